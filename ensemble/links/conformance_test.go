package links_test

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
)

func TestEachCutStopsWhatItSaysAndHealEndsIt(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		server := newEcho(t)
		link := newLink(t, network, server)
		addr, ctx := link.Addr(), testContext(t)
		for _, cut := range links.Cuts() {
			old := dial(t, addr)
			old.mustAnswer(t)
			must(t, link.Cut(ctx, cut))
			must(t, link.Cut(ctx, cut)) // again: no change
			heard := server.heard.Load()
			switch cut {
			case links.Down:
				old.mustBeClosed(t)
				mustRefuse(t, addr)
			case links.Reset:
				if err := old.ask(time.Second); err == nil {
					t.Fatal("a connection that was there is still served")
				}
				if err := dial(t, addr).ask(time.Second); !errors.Is(err, syscall.ECONNRESET) {
					t.Fatalf("want a reset, got %v", err)
				}
				if got := server.heard.Load() - heard; got != 0 {
					t.Fatalf("%s: %d requests reached the server", cut, got)
				}
			case links.RepliesLost:
				old.mustBeSilent(t)
				dial(t, addr).mustBeSilent(t)
				if got := server.hears(heard+2) - heard; got != 2 {
					t.Fatalf("%s: the server carried out %d of 2 requests", cut, got)
				}
			default:
				old.mustBeSilent(t)
				dial(t, addr).mustBeSilent(t)
				if got := server.heard.Load() - heard; got != 0 {
					t.Fatalf("%s: %d requests reached the server", cut, got)
				}
			}
			must(t, link.Heal(ctx))
			must(t, link.Heal(ctx))
			old.mustBeClosed(t)
			if link.Addr() != addr {
				t.Fatalf("%s: the link moved from %s to %s", cut, addr, link.Addr())
			}
			dial(t, addr).mustAnswer(t)
		}
	})
}

func TestACutReplacesTheOneBefore(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		server := newEcho(t)
		link := newLink(t, network, server)
		ctx := testContext(t)
		for _, first := range links.Cuts() {
			must(t, link.Cut(ctx, first))
			must(t, link.Cut(ctx, links.RepliesLost))
			heard := server.heard.Load()
			dial(t, link.Addr()).mustBeSilent(t)
			if server.hears(heard+1) != heard+1 {
				t.Fatalf("%s is still in force after the cut that followed it", first)
			}
		}
	})
}

func TestADelayHoldsBackBothWaysAndItsEndKeepsConnections(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		link := newLink(t, network, newEcho(t))
		ctx := testContext(t)
		conn := dial(t, link.Addr())
		conn.mustAnswer(t)
		for _, latency := range []time.Duration{30 * time.Millisecond, 60 * time.Millisecond} {
			must(t, link.Delay(ctx, latency, 0))
			start := time.Now()
			conn.mustAnswer(t)
			if took := time.Since(start); took < 2*latency {
				t.Fatalf("a round trip took %v with %v each way", took, latency)
			}
		}
		must(t, link.DelayReplies(ctx, 200*time.Millisecond))
		start := time.Now()
		conn.mustAnswer(t)
		if took := time.Since(start); took < 200*time.Millisecond || took >= 400*time.Millisecond {
			t.Fatalf("a round trip took %v with 200 ms on the way back alone", took)
		}
		must(t, link.Heal(ctx))
		start = time.Now()
		conn.mustAnswer(t)
		if took := time.Since(start); took > 50*time.Millisecond {
			t.Fatalf("a round trip takes %v after the delay has ended", took)
		}
	})
}

// held is the number of lines that a client sends into a stall: more than one buffer, so
// that the test sees their order.
const held = 40

func TestAStallHoldsBackInOrderAndItsEndDeliversAtOnce(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		server := newEcho(t)
		link := newLink(t, network, server)
		ctx := testContext(t)
		for _, stall := range []struct{ requests, replies bool }{{true, false}, {false, true}, {true, true}} {
			conns := []client{dial(t, link.Addr()), dial(t, link.Addr())}
			conns[0].mustAnswer(t)
			must(t, link.Stall(ctx, stall.requests, stall.replies))
			conns[1] = dial(t, link.Addr()) // a new connection
			heard := server.heard.Load()
			for i := range held {
				for _, c := range conns {
					fmt.Fprintf(c, "line %d\n", i)
				}
				time.Sleep(time.Millisecond) // in chunks of their own
			}
			for _, c := range conns {
				_ = c.SetReadDeadline(time.Now().Add(silence))
				if line, err := c.in.ReadString('\n'); !errors.Is(err, os.ErrDeadlineExceeded) {
					t.Fatalf("%+v: got %q, %v; want silence on an open connection", stall, line, err)
				}
			}
			want := int64(0)
			if !stall.requests {
				want = held * 2
			}
			if got := server.heard.Load() - heard; got != want {
				t.Fatalf("%+v: the server heard %d lines, want %d", stall, got, want)
			}
			must(t, link.Heal(ctx))
			start := time.Now()
			for _, c := range conns {
				_ = c.SetReadDeadline(time.Now().Add(5 * time.Second))
				for i := range held {
					if line, err := c.in.ReadString('\n'); err != nil || line != fmt.Sprintf("line %d\n", i) {
						t.Fatalf("%+v: line %d arrived as %q, %v", stall, i, line, err)
					}
				}
			}
			t.Logf("%+v: %d lines on each connection within %v of the stall's end", stall, held, time.Since(start))
			conns[0].mustAnswer(t)
		}
	})
}

func TestACutLosesWhatAStallHoldsBackInItsDirectionAlone(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		server := newEcho(t)
		link := newLink(t, network, server)
		ctx := testContext(t)
		for _, cut := range links.Cuts() {
			conn := dial(t, link.Addr())
			conn.mustAnswer(t)
			must(t, link.Stall(ctx, true, false))
			heard := server.heard.Load()
			fmt.Fprintln(conn, "held back")
			time.Sleep(silence / 3)
			must(t, link.Cut(ctx, cut))
			if cut == links.RepliesLost {
				if server.hears(heard+1) != heard+1 {
					t.Errorf("%s: the data held back in the other direction does not arrive", cut)
				}
			}
			_ = conn.SetReadDeadline(time.Now().Add(silence))
			if line, err := conn.in.ReadString('\n'); err == nil {
				t.Errorf("%s: got %q, %v; want no answer", cut, line, err)
			}
			if got := server.heard.Load() - heard; cut != links.RepliesLost && got != 0 {
				t.Errorf("%s: the data held back arrives", cut)
			}
			must(t, link.Heal(ctx))
			conn.mustBeClosed(t)
		}
		conn := dial(t, link.Addr())
		conn.mustAnswer(t)
		must(t, link.Stall(ctx, true, true))
		fmt.Fprintln(conn, "held back")
		time.Sleep(silence / 3)
		must(t, link.Close()) // and no proxy goes on holding it
		conn.mustBeClosed(t)
	})
}

func TestAThrottledLinkIsSlowAndKeepsItsConnections(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		link := newLink(t, network, newEcho(t))
		ctx := testContext(t)
		conn := dial(t, link.Addr())
		conn.mustAnswer(t)
		must(t, link.Throttle(ctx, 1000))
		start := time.Now()
		if err := conn.askFor(strings.Repeat("x", 199), 5*time.Second); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(start); took < 350*time.Millisecond {
			t.Errorf("200 bytes there and back at 1000 a second took %v", took)
		}
		must(t, link.Heal(ctx))
		conn.mustAnswer(t)
	})
}

func TestASlicedLinkDeliversEverythingInPieces(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		link := newLink(t, network, newEcho(t))
		ctx := testContext(t)
		conn := dial(t, link.Addr())
		must(t, link.Slice(ctx, 4, time.Millisecond))
		line := strings.Repeat("abcdefghij", 12)
		if _, err := fmt.Fprintln(conn, line); err != nil {
			t.Fatal(err)
		}
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		var got []byte
		most, piece := 0, make([]byte, 1<<10)
		for len(got) < len(line)+1 {
			n, err := conn.Read(piece) // around the buffer: pieces as they come
			if err != nil {
				t.Fatalf("%v after %q", err, got)
			}
			got, most = append(got, piece[:n]...), max(most, n)
		}
		if string(got) != line+"\n" {
			t.Errorf("arrived: %q", got)
		}
		if most > len(line)/2 {
			t.Errorf("a piece of %d bytes arrived", most)
		}
		must(t, link.Heal(ctx))
		conn.mustAnswer(t)
	})
}

func TestATruncatedLinkClosesInTheMiddleOfAReply(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		link := newLink(t, network, newEcho(t))
		ctx := testContext(t)
		conn := dial(t, link.Addr())
		conn.mustAnswer(t)
		must(t, link.Truncate(ctx, 9))
		for range 2 { // the existing connection, and a new one
			conn.mustAnswer(t) // 6 of the 9 bytes
			_, _ = fmt.Fprintln(conn, "hello")
			_ = conn.SetReadDeadline(time.Now().Add(2 * time.Second))
			if rest, err := io.ReadAll(conn.in); string(rest) != "hel" || errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("got %q, error %v; want the first half of a reply, and the end", rest, err)
			}
			conn = dial(t, link.Addr())
		}
		must(t, link.Heal(ctx))
		dial(t, link.Addr()).mustAnswer(t)
	})
}

func TestADelayedLinkCanBeCutAndHealed(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		link := newLink(t, network, newEcho(t))
		ctx := testContext(t)
		conn := dial(t, link.Addr())
		must(t, link.Delay(ctx, 20*time.Millisecond, 10*time.Millisecond))
		conn.mustAnswer(t)
		must(t, link.Cut(ctx, links.BlackHole))
		conn.mustBeSilent(t)
		must(t, link.Delay(ctx, 20*time.Millisecond, 0))
		conn.mustBeClosed(t)
		dial(t, link.Addr()).mustAnswer(t)
	})
}

func TestMistakesAreErrors(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		server := newEcho(t)
		link := newLink(t, network, server)
		ctx := testContext(t)
		if _, err := network.Link(ctx, "a-1", server.Addr().String()); !errors.Is(err, links.ErrNameTaken) {
			t.Errorf("a name given twice: %v", err)
		}
		if _, err := network.Link(ctx, "b", "no-port"); err == nil {
			t.Error("an upstream without a port was taken")
		}
		if err := link.Cut(ctx, "scissors"); err == nil {
			t.Error("an unknown cut was taken")
		}
		for what, err := range map[string]error{
			"a stall of nothing":         link.Stall(ctx, false, false),
			"a throttle to nothing":      link.Throttle(ctx, 0),
			"slices of a byte":           link.Slice(ctx, 1, 0),
			"a negative pause":           link.Slice(ctx, 8, -1),
			"a truncation after nothing": link.Truncate(ctx, 0),
		} {
			if err == nil {
				t.Errorf("%s was taken", what)
			}
		}
		if err := link.Delay(ctx, time.Millisecond, time.Second); err == nil {
			t.Error("a jitter above the latency was taken")
		}
		must(t, link.Close())
		must(t, link.Close())
		mustRefuse(t, link.Addr())
		if err := link.Heal(ctx); !errors.Is(err, links.ErrClosed) {
			t.Errorf("Heal after Close: %v", err)
		}
		again, err := network.Link(ctx, "a-1", server.Addr().String())
		must(t, err)
		dial(t, again.Addr()).mustAnswer(t)
		must(t, network.Close())
		if _, err := network.Link(ctx, "c", server.Addr().String()); !errors.Is(err, links.ErrClosed) {
			t.Errorf("Link after Close: %v", err)
		}
	})
}

func TestManyGoroutinesMayCutAndHealOneLinkUnderLoad(t *testing.T) {
	networks(t, func(t *testing.T, network links.Network) {
		link := newLink(t, network, newEcho(t))
		ctx := testContext(t)
		stop := make(chan struct{})
		var load, nemeses sync.WaitGroup
		for range 4 {
			load.Go(func() { pump(link.Addr(), stop) })
		}
		for i := range 4 {
			nemeses.Go(func() {
				for j := range 15 {
					var err error
					switch cuts := links.Cuts(); (i + j) % 6 {
					case 4:
						err = link.Delay(ctx, 5*time.Millisecond, time.Millisecond)
					case 5:
						err = link.Heal(ctx)
					default:
						err = link.Cut(ctx, cuts[(i+j)%6])
					}
					if err != nil {
						t.Error(err)
					}
				}
			})
		}
		nemeses.Wait()
		must(t, link.Heal(ctx))
		dial(t, link.Addr()).mustAnswer(t)
		close(stop)
		load.Wait()
	})
}
