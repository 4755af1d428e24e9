package recipes

import (
	"context"
	"errors"
	"runtime"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/recipes/internal/queue"
)

// A guarded request that comes when a lease is over says how it has ended, and is not
// under way of the other leases.
func TestAWriteOfALeaseThatIsOverIsNotBegun(t *testing.T) {
	for name, c := range map[string]struct {
		lost bool
		want error
	}{"lost": {true, ErrLeaseLost}, "given back": {false, ErrNotHeld}} {
		t.Run(name, func(t *testing.T) {
			held, ended := new(hold), &hold{over: true, isLost: c.lost}
			_, err := writing([]*Lease{{hold: held}, {hold: ended}})
			if err != c.want {
				t.Errorf("got %v, want %v", err, c.want)
			}
			held.writes.Wait()
			over, err := writing([]*Lease{{hold: held}})
			if err != nil {
				t.Fatal(err)
			}
			over()
			over() // once more: its caller and its answer both say so
			held.writes.Wait()
		})
	}
}

// The checks of all members fit into a request of the servers' default size.
func TestSoManyMembersFitIntoOneTransaction(t *testing.T) {
	for _, path := range []string{"/b", "/" + strings.Repeat("b", 1000)} {
		const packet = 1<<20 - 1<<12
		check := 4 + 1 + 4 + 4 + 4 + len(path) + 1 + 36 // type, done, error, length and version; path, slash and name
		if n := maxMembers(path); n*check > packet || (n+1)*check <= packet {
			t.Errorf("%d members of a barrier whose path has %d bytes take %d bytes of %d", n, len(path), n*check, packet)
		}
	}
}

// A follower's context ends as it is given the baton: it has to pass it on.
func TestAFollowerThatIsGivenTheBatonAsItGivesUpHasIt(t *testing.T) {
	type got struct {
		b     baton
		leads bool
		err   error
	}
	co, place, led := &cohort{led: true}, new(queue.Contender), make(chan got)
	ctx := taken{context.Background(), make(chan struct{})}
	go func() { // ends when it has the baton
		b, leads, err := co.lead(ctx, true)
		led <- got{b, leads, err}
	}()
	for waits := false; !waits; runtime.Gosched() {
		co.mu.Lock()
		waits = len(co.followers) == 1
		co.mu.Unlock()
	}
	co.mu.Lock()
	ctx.done <- struct{}{} // it gives up, and waits for the cohort
	m := co.followers[0]
	co.followers = nil
	co.mu.Unlock()
	m.turn <- baton{place: place}
	if g := <-led; !g.leads || g.b.place != place || !errors.Is(g.err, context.Canceled) {
		t.Fatalf("%+v", g)
	}
}

// taken is a context whose end is sent to one that waits for it, so that the sender knows that
// it has been noticed.
type taken struct {
	context.Context
	done chan struct{}
}

func (c taken) Done() <-chan struct{} { return c.done }
func (c taken) Err() error            { return context.Canceled }
