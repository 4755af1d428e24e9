package links_test

import (
	"context"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/links"
)

// flood is a server that sends and reads as much as it can.
func flood(t *testing.T) net.Listener {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var conns sync.WaitGroup
	conns.Go(func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Go(func() { talkUntilClosed(conn, io.Discard) })
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	return listener
}

// talkUntilClosed sends, and copies its input to to, until the connection ends.
func talkUntilClosed(conn net.Conn, to io.Writer) {
	var both sync.WaitGroup
	both.Go(func() {
		for block := make([]byte, 8<<10); ; {
			if _, err := conn.Write(block); err != nil {
				conn.Close()
				return
			}
		}
	})
	_, _ = io.Copy(to, conn)
	conn.Close()
	both.Wait()
}

// counted counts the bytes written to it.
type counted struct{ atomic.Int64 }

func (c *counted) Write(b []byte) (int, error) {
	c.Add(int64(len(b)))
	return len(b), nil
}

// mustGet waits for so many bytes.
func (c *counted) mustGet(t *testing.T, bytes int64) {
	t.Helper()
	for until := time.Now().Add(10 * time.Second); c.Load() < bytes; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatalf("%d bytes have come; want %d", c.Load(), bytes)
		}
	}
}

func TestAConnectionClosedInFullFlowLeavesNothingBehind(t *testing.T) {
	type step = func(context.Context, links.Link) error
	cut := func(c links.Cut) step {
		return func(ctx context.Context, l links.Link) error { return l.Cut(ctx, c) }
	}
	for name, c := range map[string]struct {
		change  step
		replies bool // pass for as long as the connection lives
	}{
		"healthy":       {func(ctx context.Context, l links.Link) error { return l.Heal(ctx) }, true},
		"delayed":       {func(ctx context.Context, l links.Link) error { return l.Delay(ctx, 5*time.Millisecond, 0) }, true},
		"throttled":     {func(ctx context.Context, l links.Link) error { return l.Throttle(ctx, 1_000_000) }, true},
		"sliced":        {func(ctx context.Context, l links.Link) error { return l.Slice(ctx, 4<<10, time.Millisecond) }, true},
		"truncated":     {func(ctx context.Context, l links.Link) error { return l.Truncate(ctx, 100_000) }, false}, // its end may lose data that came with it
		"requests lost": {cut(links.RequestsLost), true},
		"replies lost":  {cut(links.RepliesLost), false},
		"black hole":    {cut(links.BlackHole), false},
		"reset":         {cut(links.Reset), false},
		"down":          {cut(links.Down), false},
	} {
		for end, closes := range map[string]func(*net.TCPConn) error{
			"closed":      (*net.TCPConn).Close,
			"half-closed": (*net.TCPConn).CloseWrite,
			"reset":       func(c *net.TCPConn) error { _ = c.SetLinger(0); return c.Close() },
		} {
			t.Run(name+", "+end, func(t *testing.T) {
				noLeaks(t)
				server := flood(t)
				network, err := links.InProcess()
				must(t, err)
				defer closeNetwork(t, network)
				before := goleak.IgnoreCurrent()
				link, err := network.Link(testContext(t), "a", server.Addr().String())
				must(t, err)
				for _, late := range []bool{false, true} { // connections from before the change, and after it
					if late {
						must(t, c.change(testContext(t), link))
					}
					var talking sync.WaitGroup
					var conns []*net.TCPConn
					var got []*counted
					for range 4 {
						conn, err := net.Dial("tcp", link.Addr())
						if err != nil && late && name == "down" {
							continue
						}
						must(t, err)
						n := new(counted)
						conns, got = append(conns, conn.(*net.TCPConn)), append(got, n)
						talking.Go(func() { talkUntilClosed(conn, n) })
					}
					for _, n := range got {
						if c.replies || !late {
							n.mustGet(t, 50_000)
						}
					}
					if !late {
						must(t, c.change(testContext(t), link))
					}
					for _, conn := range conns {
						_ = closes(conn)
					}
					must(t, link.Heal(testContext(t)))
					for _, conn := range conns {
						_ = conn.Close()
					}
					talking.Wait()
				}
				must(t, link.Close())
				server.Close()
				goleak.VerifyNone(t, before)
			})
		}
	}
}
