package zktest_test

import (
	"errors"
	"io"
	"net"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/zktest"
)

func dialTCP(t *testing.T, addr string) net.Conn {
	t.Helper()
	conn, err := net.DialTimeout("tcp", addr, 10*time.Second)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	_ = conn.SetDeadline(time.Now().Add(10 * time.Second))
	return conn
}

func TestTCPReachesTheServersWithTheFaultsOfItsClient(t *testing.T) {
	e := zktest.Start(t, zktest.Tick(20*time.Millisecond))
	addrs := e.Client("one").Addrs()
	if again := e.Client("one").Addrs(); !slices.Equal(addrs, again) || len(addrs) != 3 {
		t.Fatalf("%v, and then %v", addrs, again)
	}
	other := e.Client("two").Addrs()
	for _, addr := range append(addrs, other...) {
		if answer, err := ask(dialTCP(t, addr), "ruok"); answer != "imok" || err != nil {
			t.Errorf("%s: %q, %v", addr, answer, err)
		}
	}
	open := dialTCP(t, addrs[0])
	e.Client("one").Refuse()
	for _, conn := range []net.Conn{open, dialTCP(t, addrs[0])} {
		if n, err := conn.Read(make([]byte, 1)); n > 0 || err == nil || errors.Is(err, io.ErrNoProgress) {
			t.Errorf("a connection that is refused: %d bytes, %v", n, err)
		}
	}
	if answer, err := ask(dialTCP(t, other[0]), "ruok"); answer != "imok" || err != nil {
		t.Errorf("another client: %q, %v", answer, err)
	}
	cut := dialTCP(t, other[1])
	e.Client("two").Cut(2)
	if _, err := cut.Write(connectRequest); err != nil {
		t.Fatal(err)
	}
	_ = cut.SetReadDeadline(time.Now().Add(50 * time.Millisecond))
	if n, err := cut.Read(make([]byte, 1)); n > 0 || err == nil {
		t.Errorf("a link that is cut has carried %d bytes, %v", n, err)
	}
}

func TestAServerHearsThatATCPConnectionIsClosed(t *testing.T) {
	e := zktest.Start(t)
	c := e.Client("one")
	conn := dialTCP(t, c.Addrs()[0])
	at := func(server int) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); c.Server() != server; time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatalf("the client is at server %d, want %d", c.Server(), server)
			}
		}
	}
	at(1)
	_ = conn.Close()
	at(0)
}

// Advance lets the servers' time pass at once when no goroutine waits for it.
func TestServersTimeIsAdvanced(t *testing.T) {
	e := zktest.Start(t)
	began := time.Now()
	lease := acquire(t, connect(t, e, "one"), "/l")
	e.Client("one").Cut()
	e.Advance(time.Minute)
	if held := e.Children("/l"); len(held) != 0 {
		t.Errorf("after a minute the servers have %v", held)
	}
	if took := time.Since(began); !lease.Valid() && took < timeout {
		t.Errorf("the client has lost its lease after %v", took)
	}
}
