package cluster

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// FuzzAClientThatTalksNonsense sends arbitrary bytes: as a connection's first, and as a
// session's. The servers go on serving other clients.
func FuzzAClientThatTalksNonsense(f *testing.F) {
	f.Add([]byte("GET / HTTP/1.1\r\n\r\n"))
	f.Add([]byte{0x7f, 0xff, 0xff, 0xff})
	f.Add([]byte{0xff, 0xff, 0xff, 0xff})
	f.Add([]byte{0, 0, 0, 0})
	for op := wire.Op(-12); op < 120; op++ {
		h := &wire.RequestHeader{Xid: 1, Op: op}
		f.Add(wire.Frame(h))
		if body := wire.NewRequest(op); body != nil {
			f.Add(wire.Frame(h, body))
			f.Add(wire.Frame(h, body)[:len(wire.Frame(h, body))-1])
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		b := newBench(t, lan)
		b.leader()
		for _, server := range b.IDs() {
			conn, _ := b.Accept(server, "127.0.0.1")
			b.clients[conn] = &client{bench: b, server: server, conn: conn}
			b.Receive(server, conn, data)
			c := b.dial(server, time.Second, wire.ConnectResponse{})
			b.Receive(server, c.conn, data)
		}
		b.Advance(b.Now() + 5*time.Second)
		b.leader()
		if err := b.dial(b.follower(), time.Second, wire.ConnectResponse{}).create("/a", wire.FlagPersistent); err != wire.OK {
			t.Errorf("after %q: create: %d", data, err)
		}
	})
}
