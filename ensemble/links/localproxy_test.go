package links_test

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/links"
)

// flood is a server that sends and takes in as much as it can.
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
			conns.Go(func() { talkUntilClosed(conn) })
		}
	})
	t.Cleanup(func() { listener.Close(); conns.Wait() })
	return listener
}

// talkUntilClosed sends and takes in until the connection ends.
func talkUntilClosed(conn net.Conn) {
	var both sync.WaitGroup
	both.Go(func() {
		for block := make([]byte, 8<<10); ; {
			if _, err := conn.Write(block); err != nil {
				conn.Close()
				return
			}
		}
	})
	_, _ = io.Copy(io.Discard, conn)
	conn.Close()
	both.Wait()
}

func TestAConnectionClosedInFullFlowLeavesNothingBehind(t *testing.T) {
	type step = func(context.Context, links.Link) error
	cut := func(c links.Cut) step {
		return func(ctx context.Context, l links.Link) error { return l.Cut(ctx, c) }
	}
	for name, change := range map[string]step{
		"healthy":       func(ctx context.Context, l links.Link) error { return l.Heal(ctx) },
		"delayed":       func(ctx context.Context, l links.Link) error { return l.Delay(ctx, 5*time.Millisecond, 0) },
		"throttled":     func(ctx context.Context, l links.Link) error { return l.Throttle(ctx, 1_000_000) },
		"sliced":        func(ctx context.Context, l links.Link) error { return l.Slice(ctx, 4<<10, time.Millisecond) },
		"truncated":     func(ctx context.Context, l links.Link) error { return l.Truncate(ctx, 100_000) },
		"black hole":    cut(links.BlackHole),
		"requests lost": cut(links.RequestsLost),
		"replies lost":  cut(links.RepliesLost),
		"reset":         cut(links.Reset),
		"down":          cut(links.Down),
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
				for _, late := range []bool{false, true} { // connections of before the change, and after it
					if late {
						must(t, link.Heal(testContext(t)))
						must(t, change(testContext(t), link))
					}
					var talking sync.WaitGroup
					var conns []*net.TCPConn
					for range 4 {
						conn, err := net.Dial("tcp", link.Addr())
						if err != nil {
							continue // it is down
						}
						conns = append(conns, conn.(*net.TCPConn))
						talking.Go(func() { talkUntilClosed(conn) })
					}
					time.Sleep(20 * time.Millisecond)
					if !late {
						must(t, change(testContext(t), link))
						time.Sleep(20 * time.Millisecond)
					}
					for _, conn := range conns {
						_ = closes(conn)
					}
					time.Sleep(20 * time.Millisecond)
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
