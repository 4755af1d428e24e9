package model_test

import (
	"errors"
	"net"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// serve accepts one connection, reads its handshake and writes these frames. Then it
// closes the connection, or with hold keeps it open until the test ends.
func serve(t *testing.T, hold bool, frames ...[]byte) (address string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ended, done := make(chan struct{}), make(chan struct{})
	t.Cleanup(func() { close(ended); l.Close(); <-done })
	go func() { // ends with the test
		defer close(done)
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 256))
		for _, f := range frames {
			_, _ = conn.Write(f)
		}
		if hold {
			<-ended
		}
	}()
	return l.Addr().String()
}

var (
	welcome = wire.Frame(&wire.ConnectResponse{Timeout: 4000, Session: 7, Password: []byte("secret"), HasReadOnly: true})
	fired   = wire.Frame(&wire.ReplyHeader{Xid: wire.NotificationXid, Zxid: -1}, &wire.WatcherEvent{Type: wire.NodeCreated, State: 3, Path: "/a"})
)

func answer(xid int32, zxid int64) []byte { return wire.Frame(&wire.ReplyHeader{Xid: xid, Zxid: zxid}) }

func TestAClientKeepsTheOrderOfRepliesAndNotifications(t *testing.T) {
	c, err := Dial(t.Context(), serve(t, true, welcome, answer(1, 5), fired, answer(2, 6)), Session{}, 5*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	if c.Session.ID != 7 || string(c.Session.Password) != "secret" || c.Timeout != 4*time.Second {
		t.Errorf("session %+v, timeout %v", c.Session, c.Timeout)
	}
	frames, err := c.Await(2)
	if err != nil || len(frames) != 3 || frames[0].Xid != 1 || frames[1].Xid != wire.NotificationXid || frames[2].Xid != 2 {
		t.Errorf("got %v, %v", frames, err)
	}
	if c.Session.LastZxid != 6 {
		t.Errorf("last zxid %d", c.Session.LastZxid)
	}
}

func TestAClientNoticesHowAServerEnds(t *testing.T) {
	for name, c := range map[string]struct {
		hold   bool
		frames [][]byte
		want   error
		before int // frames
	}{
		"a connection closed after a reply":  {false, [][]byte{welcome, answer(1, 5)}, ErrClosed, 1},
		"a connection closed within a frame": {false, [][]byte{welcome, answer(1, 5)[:10]}, ErrClosed, 0},
		"a server that falls silent":         {true, [][]byte{welcome, answer(1, 5)}, ErrNoAnswer, 1},
		"a frame that is too long":           {true, [][]byte{welcome, {0x7f, 0, 0, 0}}, wire.ErrMalformed, 0},
	} {
		t.Run(name, func(t *testing.T) {
			client, err := Dial(t.Context(), serve(t, c.hold, c.frames...), Session{}, 300*time.Millisecond)
			if err != nil {
				t.Fatal(err)
			}
			defer client.Close()
			frames, err := client.Await(2)
			if !errors.Is(err, c.want) || len(frames) != c.before {
				t.Errorf("got %v, %v", frames, err)
			}
			if client.Closed() != errors.Is(c.want, ErrClosed) {
				t.Errorf("Closed is %v", client.Closed())
			}
		})
	}
	t.Run("a handshake that is not answered", func(t *testing.T) {
		if _, err := Dial(t.Context(), serve(t, true), Session{}, 300*time.Millisecond); !errors.Is(err, ErrNoAnswer) {
			t.Errorf("got %v", err)
		}
	})
	t.Run("a handshake that ends the connection", func(t *testing.T) {
		if _, err := Dial(t.Context(), serve(t, false), Session{}, 5*time.Second); !errors.Is(err, ErrClosed) {
			t.Errorf("got %v", err)
		}
	})
}
