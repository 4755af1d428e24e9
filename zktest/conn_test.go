package zktest_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/zktest"
)

func dial(t *testing.T, e *zktest.Ensemble, name string, server int) net.Conn {
	t.Helper()
	conn, err := e.Client(name).DialTimeout("tcp", e.Servers()[server-1], time.Minute)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	return conn
}

// connectRequest begins a session.
var connectRequest = append(binary.BigEndian.AppendUint32(nil, 45), append([]byte{
	0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x27, 0x10, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 16,
}, make([]byte, 17)...)...)

// ask sends a four-letter word and returns the answer.
func ask(conn net.Conn, word string) (string, error) {
	if _, err := conn.Write([]byte(word)); err != nil {
		return "", err
	}
	answer, err := io.ReadAll(conn)
	return string(answer), err
}

func TestAConnectionCarriesBytesBothWaysAndEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn := dial(t, e, "one", 1)
		if answer, err := ask(conn, "ruok"); answer != "imok" || err != nil {
			t.Errorf("%q, %v", answer, err)
		}
		if _, err := conn.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("a write behind the server's end: %v", err)
		}
		if err := conn.Close(); err != nil {
			t.Error(err)
		}
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a read behind the close: %v", err)
		}
		if _, err := conn.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("a write behind the close: %v", err)
		}
	})
}

func TestAReadEndsWithItsDeadlineOrTheClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn := dial(t, e, "one", 1)
		began := time.Now()
		if err := conn.SetDeadline(began.Add(time.Second)); err != nil {
			t.Fatal(err)
		}
		_, err := conn.Read(make([]byte, 1))
		var timeout net.Error
		if !errors.As(err, &timeout) || !timeout.Timeout() || time.Since(began) != time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
		if _, err := conn.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("a write behind the deadline: %v", err)
		}
		if err := conn.SetDeadline(time.Time{}); err != nil {
			t.Fatal(err)
		}
		var readers sync.WaitGroup
		for range 3 {
			readers.Go(func() {
				if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
					t.Errorf("a read that is closed: %v", err)
				}
			})
		}
		synctest.Wait()
		_ = conn.Close()
		readers.Wait()
	})
}

// With net.Pipe two writers to a peer that reads nothing hold a mutex while they wait,
// and the clock of the bubble stands still.
func TestWritersToASilentServerDoNotStopTheClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn := dial(t, e, "one", 1)
		e.Client("one").Cut()
		e.Pause(1)
		var writers sync.WaitGroup
		for range 2 {
			writers.Go(func() {
				if _, err := conn.Write(make([]byte, 1<<20)); err != nil {
					t.Error(err)
				}
			})
		}
		writers.Wait()
		began := time.Now()
		time.Sleep(time.Minute)
		if time.Since(began) != time.Minute {
			t.Error("time did not pass")
		}
	})
}

func TestADialFindsWhatTheLinkAndTheServerAre(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := e.Client("one")
		if _, err := c.DialTimeout("tcp", "192.0.2.9:2181", time.Second); err == nil {
			t.Error("a server answers that the test did not start")
		}
		e.Kill(1)
		if _, err := c.DialTimeout("tcp", e.Servers()[0], time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("at a dead server: %v", err)
		}
		c.Refuse(2)
		if _, err := c.DialTimeout("tcp", e.Servers()[1], time.Second); !errors.Is(err, syscall.ECONNREFUSED) {
			t.Errorf("at a link that refuses: %v", err)
		}
		for name, cut := range map[string]func(...int){"cut": c.Cut, "requests": c.CutRequests, "replies": c.CutReplies} {
			cut(3)
			began := time.Now()
			if _, err := c.DialTimeout("tcp", e.Servers()[2], time.Second); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
				t.Errorf("%s: after %v: %v", name, time.Since(began), err)
			}
		}
		time.AfterFunc(time.Second, func() { c.Heal(3) })
		dial(t, e, "one", 3) // waits for the link
	})
}

// Each direction is cut alone; a lost message ends the connection when the link is healed.
func TestOneDirectionIsCut(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := e.Client("one")
		for name, cut := range map[string]struct {
			cut     func(...int)
			arrives bool
		}{"requests": {c.CutRequests, false}, "replies": {c.CutReplies, true}} {
			conn, before := dial(t, e, "one", 1), c.Session()
			cut.cut()
			if _, err := conn.Write(connectRequest); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second)
			if begun := c.Session() != before; begun != cut.arrives {
				t.Errorf("%s: a session has begun: %v", name, begun)
			}
			healed := time.Now()
			time.AfterFunc(time.Second, func() { c.Heal() })
			if _, err := conn.Read(make([]byte, 100)); !errors.Is(err, syscall.ECONNRESET) || time.Since(healed) != time.Second {
				t.Errorf("%s: after %v: %v", name, time.Since(healed), err)
			}
		}
	})
}

// Messages that are on their way when a link is cut are lost too.
func TestACutLosesWhatIsOnItsWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t, zktest.Latency(10*time.Millisecond))
		c := e.Client("one")
		conn := dial(t, e, "one", 1)
		if _, err := conn.Write(connectRequest); err != nil {
			t.Fatal(err)
		}
		c.Cut()
		time.Sleep(time.Second)
		if c.Session() != 0 {
			t.Error("the request has arrived")
		}
		c.Heal()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the connection that has lost it: %v", err)
		}
	})
}

func TestAClientsFaultsAreItsOwn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		one, two, other := dial(t, e, "one", 1), dial(t, e, "two", 1), dial(t, e, "one", 2)
		e.Client("one").Refuse(1)
		if _, err := one.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the link that refuses: %v", err)
		}
		for _, conn := range []net.Conn{two, other} {
			if answer, err := ask(conn, "ruok"); answer != "imok" || err != nil {
				t.Errorf("another link: %q, %v", answer, err)
			}
		}
	})
}

func TestDisconnectClosesWhatIsOpenAndNoMore(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		conn := dial(t, e, "one", 1)
		if e.Client("one").Server() != 1 {
			t.Errorf("the client is at server %d", e.Client("one").Server())
		}
		e.Client("one").Disconnect()
		if _, err := conn.Read(make([]byte, 1)); !errors.Is(err, syscall.ECONNRESET) {
			t.Error(err)
		}
		if e.Client("one").Server() != 0 {
			t.Errorf("the client is at server %d", e.Client("one").Server())
		}
		dial(t, e, "one", 1)
	})
}
