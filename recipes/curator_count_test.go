package recipes_test

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// The scenarios of Curator's TestSharedCount, as far as they apply to a count of this package,
// which has Get and Set only:
//
//	testSimple, testMultiClients, testMultiClientDifferentSeed,
//	testDisconnectReconnectWithMultipleClients
//
// Not taken: scenarios of versions (compare and set) and listeners, which a count does not have
// here. A semaphore watches the node itself.

func countIs(t *testing.T, c *recipes.SharedCount, want int) {
	t.Helper()
	if n, err := c.Get(within(t)); err != nil || n != want {
		t.Errorf("the count is %d, %v, want %d", n, err, want)
	}
}

func setTo(t *testing.T, c *recipes.SharedCount, n int) {
	t.Helper()
	if err := c.Set(within(t), n); err != nil {
		t.Fatal(err)
	}
}

func TestCuratorCountSimple(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	count := recipes.NewSharedCount(connect(t, addrsOf(t)), path, 0)
	countIs(t, count, 0) // which creates the node
	for _, n := range []int{1, 10, 10, 0, -1, math.MaxInt32, math.MinInt32} {
		setTo(t, count, n)
		countIs(t, count, n)
		data, stat, err := conn.Get(path)
		if err != nil || !slices.Equal(data, binary.BigEndian.AppendUint32(nil, uint32(int32(n)))) || stat.EphemeralOwner != 0 {
			t.Errorf("the node has %x, %v", data, err)
		}
	}
}

func TestCuratorCountMultiClients(t *testing.T) {
	// The seed of the first client counts, even if later clients have others. All clients see a
	// value that one of them sets, and of values set at the same time one stays.
	const clients = 5
	path := uniquePath(t)
	var counts []*recipes.SharedCount
	for i := range clients {
		counts = append(counts, recipes.NewSharedCount(connect(t, addrsOf(t)), path, 100+i))
	}
	countIs(t, counts[0], 100)
	agree := func() (n int) {
		eventually(t, "all see one number", func() bool {
			var seen []int
			for _, c := range counts {
				n, err := c.Get(within(t))
				if err != nil {
					t.Fatal(err)
				}
				seen = append(seen, n)
			}
			n = seen[0]
			return len(slices.Compact(seen)) == 1
		})
		return n
	}
	if n := agree(); n != 100 {
		t.Errorf("all see %d", n)
	}
	for i, c := range counts {
		setTo(t, c, i)
		eventually(t, fmt.Sprintf("all see %d", i), func() bool { return agree() == i })
	}
	var all sync.WaitGroup
	for i, c := range counts {
		all.Go(func() {
			if err := c.Set(within(t), 10+i); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	admin(t).Sync(path)
	if n := agree(); n < 10 || n >= 10+clients {
		t.Errorf("all see %d, which no client has set", n)
	}
}

func TestCuratorCountDisconnectReconnect(t *testing.T) {
	apart(t)
	// One client is cut off while another sets the count. Once its link is back it sees the new
	// number. A Set that it called meanwhile takes effect then, and not again after it has
	// returned.
	path := uniquePath(t)
	a, ls := linked(t)
	suspended := make(chan struct{}, 1)
	c := connect(t, a, recipes.WithConnectionListener(func(s recipes.ConnectionState) {
		if s == recipes.ConnSuspended {
			select {
			case suspended <- struct{}{}:
			default:
			}
		}
	}))
	cutOff := recipes.NewSharedCount(c, path, 1)
	other := recipes.NewSharedCount(connect(t, addrsOf(t)), path, 1)
	// during runs a call that begins, and loses its connection, while the client is cut off.
	during := func(cut links.Cut, call func() error, meanwhile func()) {
		t.Helper()
		select {
		case <-suspended: // from before
		default:
		}
		cutAll(t, ls, cut)
		done := make(chan error, 1)
		go func() { done <- call() }()
		meanwhile()
		select {
		case <-suspended:
		case err := <-done:
			t.Errorf("%s: the call returned %v", cut, err)
			done <- err
		case <-time.After(patient):
			t.Fatalf("%s: the cut is not noticed", cut)
		}
		healAll(t, ls)
		if err := returns(t, done); err != nil {
			t.Errorf("%s: %v", cut, err)
		}
	}
	for round, cut := range []links.Cut{links.Down, links.BlackHole, links.RequestsLost, links.RepliesLost} {
		before := 10*round + 1
		setTo(t, other, before)
		countIs(t, other, before)
		during(cut, func() error { _, err := cutOff.Get(within(t)); return err }, func() { setTo(t, other, before+1) })
		eventually(t, "it sees what was set meanwhile", func() bool {
			n, err := cutOff.Get(within(t))
			return err == nil && n == before+1
		})
		during(cut, func() error { return cutOff.Set(within(t), before+2) }, func() {})
		countIs(t, cutOff, before+2)
		setTo(t, other, before+3)
		eventually(t, "it sees what was set since", func() bool {
			n, err := cutOff.Get(within(t))
			return err == nil && n == before+3
		})
		countIs(t, other, before+3)
	}
}
