package ensemble_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
)

func TestASessionIsExpiredByForce(t *testing.T) {
	l, ctx := local(t), testContext(t)
	addr := l.Servers()[1].Addr
	id, password := openSession(t, l.Servers()[0].Addr)
	watcher := dial(t, addr)
	if err := ensemble.Expire(ctx, ensemble.Server{Addr: addr}, id, []byte("0123456789abcdef"), 5*time.Second); !errors.Is(err, ensemble.ErrNoSession) {
		t.Fatalf("with a wrong password: %v", err)
	}
	start := time.Now()
	must(t, ensemble.Expire(ctx, ensemble.Server{Addr: addr}, id, password, 5*time.Second))
	t.Logf("expired in %v", time.Since(start))
	if err := ensemble.Expire(ctx, ensemble.Server{Addr: addr}, id, password, 5*time.Second); !errors.Is(err, ensemble.ErrNoSession) {
		t.Fatalf("a second time: %v", err)
	}
	exists, _, err := watcher.Exists("/ephemeral")
	must(t, err)
	if exists {
		t.Fatal("the session's ephemeral node is still there")
	}
}

// A server that has closed the session has ended it, even if its answer never comes.
func TestASessionIsExpiredByAServerThatDoesNotAnswer(t *testing.T) {
	l, ctx := local(t), testContext(t)
	mute := l.Servers()[0]
	mute.Dialer = muteDialer{}
	servers := []ensemble.Server{mute, l.Servers()[1]}
	id, password := openSession(t, l.Servers()[2].Addr)
	must(t, ensemble.ExpireAnywhere(ctx, servers, time.Second, id, password, 5*time.Second))
	if err := ensemble.ExpireAnywhere(ctx, servers, time.Second, id, password, 5*time.Second); !errors.Is(err, ensemble.ErrNoSession) {
		t.Fatalf("a second time: %v", err)
	}
}

// muteDialer opens connections on which only the first answer comes, and not even the end
// of the connection.
type muteDialer struct{}

func (muteDialer) DialContext(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := new(net.Dialer).DialContext(ctx, network, addr)
	return &muteConn{Conn: conn, closed: make(chan struct{})}, err
}

type muteConn struct {
	net.Conn
	reads  int
	once   sync.Once
	closed chan struct{}
}

func (c *muteConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (c *muteConn) Read(p []byte) (int, error) {
	if c.reads++; c.reads > 2 { // the length of the first answer, and the answer
		<-c.closed
		return 0, net.ErrClosed
	}
	return io.ReadFull(c.Conn, p)
}

// A client that waits for a write is disconnected when its session is ended elsewhere
// before the write's commit reaches its server, so that it can learn of the end.
func TestTheClientOfAnExpiredSessionIsDisconnectedWhileItWrites(t *testing.T) {
	l, ctx := local(t), testContext(t)
	leader := leaderOtherThan(t, l, 0)
	follower, other := leader%3+1, (leader+1)%3+1
	conn, id, password := connect(t, l.Servers()[follower-1].Addr)
	for _, link := range l.Peer(follower, leader) {
		must(t, link.Delay(ctx, 400*time.Millisecond, 0))
		defer func() { must(t, link.Heal(testContext(t))) }()
	}
	const xid = 1 // as that of the first request of any client
	_, err := conn.Write(framed(create(xid, "/written")))
	must(t, err)
	eventually(t, "the follower has it, and waits for the leader", func() bool {
		answer, err := ensemble.Four(ctx, l.Servers()[follower-1], "srvr")
		return err == nil && strings.Contains(answer, "Outstanding: 1\n")
	})
	must(t, ensemble.Expire(ctx, l.Servers()[other-1], id, password, 5*time.Second))
	must(t, conn.SetReadDeadline(time.Now().Add(3*time.Second)))
	if rest, err := io.ReadAll(conn); err != nil {
		t.Fatalf("the connection of the client stays, after %d bytes: %v", len(rest), err)
	}
}

// openSession opens a session with an ephemeral node by hand: go-zookeeper does not
// reveal the password. The connection stays open until the test ends.
func openSession(t *testing.T, addr string) (id int64, password []byte) {
	t.Helper()
	conn, id, password := connect(t, addr)
	if reply := exchange(t, conn, create(7, "/ephemeral")); binary.BigEndian.Uint32(reply[12:]) != 0 {
		t.Fatalf("create: %x", reply)
	}
	return id, password
}

// connect opens a session of 30 s.
func connect(t *testing.T, addr string) (conn net.Conn, id int64, password []byte) {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, time.Second)
	must(t, err)
	t.Cleanup(func() { conn.Close() })
	request := make([]byte, 4+8+4+8+4+16)
	binary.BigEndian.PutUint32(request[12:], 30000)
	binary.BigEndian.PutUint32(request[24:], 16)
	answer := exchange(t, conn, request)
	return conn, int64(binary.BigEndian.Uint64(answer[8:])), answer[20:36]
}

// create returns the request for an ephemeral node.
func create(xid uint32, path string) []byte {
	// xid, create (1), path, data, ACL list of one: all for world:anyone, flags: ephemeral
	create := binary.BigEndian.AppendUint32(nil, xid)
	create = binary.BigEndian.AppendUint32(create, 1)
	text := func(s string) {
		create = append(binary.BigEndian.AppendUint32(create, uint32(len(s))), s...)
	}
	text(path)
	text("")
	create = binary.BigEndian.AppendUint32(create, 1)
	create = binary.BigEndian.AppendUint32(create, zk.PermAll)
	text("world")
	text("anyone")
	return binary.BigEndian.AppendUint32(create, zk.FlagEphemeral)
}

// framed returns a packet with its length in front.
func framed(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

func exchange(t *testing.T, conn net.Conn, body []byte) []byte {
	t.Helper()
	_, err := conn.Write(framed(body))
	must(t, err)
	var length [4]byte
	_, err = io.ReadFull(conn, length[:])
	must(t, err)
	answer := make([]byte, binary.BigEndian.Uint32(length[:]))
	_, err = io.ReadFull(conn, answer)
	must(t, err)
	return answer
}
