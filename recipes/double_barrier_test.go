package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// steps is the oracle of the rounds of a double barrier: each member reports each step before it
// takes it and afterwards.
type steps struct {
	n int

	mu               sync.Mutex
	arrived, leaving map[int]int // by round
	wrong            []string
}

func newSteps(n int) *steps {
	return &steps{n: n, arrived: make(map[int]int), leaving: make(map[int]int)}
}

func (s *steps) arrives(round int) { s.mu.Lock(); s.arrived[round]++; s.mu.Unlock() }
func (s *steps) leaves(round int)  { s.mu.Lock(); s.leaving[round]++; s.mu.Unlock() }

func (s *steps) entered(round int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.arrived[round] < s.n {
		s.wrong = append(s.wrong, fmt.Sprintf("round %d: a member entered when %d of %d had arrived", round, s.arrived[round], s.n))
	}
}

func (s *steps) left(round int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.leaving[round] < s.n {
		s.wrong = append(s.wrong, fmt.Sprintf("round %d: Leave returned when %d of %d were leaving", round, s.leaving[round], s.n))
	}
}

// take is one member's part in a round.
func (s *steps) take(ctx context.Context, b *recipes.DoubleBarrier, round int) error {
	s.arrives(round)
	if err := b.Enter(ctx); err != nil {
		return fmt.Errorf("round %d: %w", round, err)
	}
	s.entered(round)
	s.leaves(round)
	if err := b.Leave(ctx); err != nil {
		return fmt.Errorf("round %d: %w", round, err)
	}
	s.left(round)
	return nil
}

func (s *steps) check(t *testing.T) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, w := range s.wrong {
		t.Error(w)
	}
}

// pair returns two members of a barrier for two, each with a client and a wire
// of its own. Sessions last long enough for any hook to block.
func pair(t *testing.T, path string) (a, b *recipes.DoubleBarrier, wireA, wireB *intercept) {
	t.Helper()
	wireA, wireB = new(intercept), new(intercept)
	long := recipes.WithSessionTimeout(20 * time.Second)
	a = recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wireA.dial), long), path, 2)
	b = recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wireB.dial), long), path, 2)
	return a, b, wireA, wireB
}

// together makes all of them enter, or all of them leave.
func together(t *testing.T, calls ...func(context.Context) error) {
	t.Helper()
	var all []<-chan error
	for _, call := range calls {
		all = append(all, going(within(t), call))
	}
	for _, done := range all {
		succeeds(t, done)
	}
}

// members lists the members' nodes.
func members(t *testing.T, conn outsider, path string) []string {
	t.Helper()
	return slices.DeleteFunc(contenders(t, conn, path), func(name string) bool { return name == "ready" })
}

func awaitMembers(t *testing.T, conn outsider, path string, n int) {
	t.Helper()
	eventually(t, fmt.Sprintf("%d members are there", n), func() bool { return len(members(t, conn, path)) == n })
}

// nothingLeft checks that a barrier leaves neither a node nor a watch.
func nothingLeft(t *testing.T, conn outsider, path string) {
	t.Helper()
	eventually(t, "no node is left", func() bool { return len(contenders(t, conn, path)) == 0 })
	noWatchAt(t, path)
	eventually(t, "no watch on children is left", func() bool { return childWatches(t) == 0 })
}

func TestDoubleBarrierKeepsItsMembersInStep(t *testing.T) {
	leavesNoGoroutine(t)
	path := uniquePath(t)
	conn := admin(t)
	for _, n := range []int{1, 2, 3, 7} {
		oracle := newSteps(n)
		clients := []*recipes.Client{connect(t, addrsOf(t)), connect(t, addrsOf(t)), connect(t, addrsOf(t))}
		done := make(chan error, n)
		for i := range n {
			go func() {
				b := recipes.NewDoubleBarrier(clients[i%len(clients)], path, n)
				for round := range 20 {
					if err := oracle.take(t.Context(), b, round); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range n {
			succeeds(t, done)
		}
		oracle.check(t)
		nothingLeft(t, conn, path)
	}
}

func TestDoubleBarrierOnTheWire(t *testing.T) {
	path := uniquePath(t)
	a, b, _, _ := pair(t, path)
	conn := admin(t)
	entering := going(within(t), a.Enter)
	awaitMembers(t, conn, path, 1)
	name := members(t, conn, path)[0]
	if !regexp.MustCompile(`^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$`).MatchString(name) {
		t.Errorf("a member is named %q: Curator's are UUIDs", name)
	}
	if _, stat, err := conn.Get(path + "/" + name); err != nil || stat.EphemeralOwner == 0 {
		t.Errorf("a member's node: %+v, %v", stat, err)
	}
	waits(t, entering)
	does(t, b.Enter)
	succeeds(t, entering)
	if _, stat, err := conn.Get(path + "/ready"); err != nil || stat.EphemeralOwner != 0 {
		t.Errorf("the ready node: %+v, %v", stat, err)
	}
	together(t, a.Leave, b.Leave)
	nothingLeft(t, conn, path)
}

func TestCurator43ForeignChildrenAreNoMembers(t *testing.T) {
	path := uniquePath(t)
	a, b, _, _ := pair(t, path)
	conn := admin(t)
	together(t, a.Enter, b.Enter)
	foreign := []string{"config", "readyy", "lock-0000000001", strings.Repeat("x", 36), "6ba7b810-9dad-11d1-80b4-00c04fd430c8x"}
	for _, name := range foreign {
		if _, err := conn.Create(path+"/"+name, nil, 0, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	together(t, a.Leave, b.Leave)
	entering := going(within(t), a.Enter)
	awaitMembers(t, conn, path, len(foreign)+1)
	eventually(t, "it waits", func() bool { return childWatches(t) == 1 })
	waits(t, entering)
	does(t, b.Enter)
	succeeds(t, entering)
	together(t, a.Leave, b.Leave)
	left := contenders(t, conn, path)
	slices.Sort(left)
	slices.Sort(foreign)
	if !slices.Equal(left, foreign) {
		t.Errorf("left: %v", left)
	}
}

func TestDoubleBarrierGivenNonsense(t *testing.T) {
	c := connect(t, addrsOf(t))
	conn := admin(t)
	path := uniquePath(t)
	for _, bad := range []string{"", "/", "relative", "/a//b", "/a/", "/a/../b", "/a/./b", "/a\x00"} {
		if err := recipes.NewDoubleBarrier(c, bad, 2).Enter(within(t)); !errors.Is(err, recipes.ErrBadPath) {
			t.Errorf("at %q: %v", bad, err)
		}
	}
	for _, n := range []int{0, -1, -1 << 31, 1 << 20, 1 << 31} {
		if err := recipes.NewDoubleBarrier(c, path, n).Enter(within(t)); !errors.Is(err, recipes.ErrBadMembers) {
			t.Errorf("%d members: %v", n, err)
		}
	}
	b := recipes.NewDoubleBarrier(c, path, 1)
	notEntered := func(when string) {
		t.Helper()
		if err := b.Leave(within(t)); !errors.Is(err, recipes.ErrNotEntered) || !strings.HasPrefix(err.Error(), "leave "+path) {
			t.Errorf("leave %s: %v", when, err)
		}
	}
	notEntered("without enter")
	why := errors.New("not needed any more")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	if err := b.Enter(cancelled); !errors.Is(err, why) {
		t.Errorf("enter with a cancelled context: %v", err)
	}
	notEntered("after an enter that did nothing")
	if exists(t, conn, path) {
		t.Error("none of these calls should have created a node")
	}
	does(t, b.Enter)
	if err := b.Enter(within(t)); !errors.Is(err, recipes.ErrEntered) || !strings.HasPrefix(err.Error(), "enter "+path) {
		t.Errorf("second enter: %v", err)
	}
	does(t, b.Leave)
	notEntered("after leave")
	nothingLeft(t, conn, path)

	// One call at a time.
	b = recipes.NewDoubleBarrier(c, path, 2)
	other := recipes.NewDoubleBarrier(c, path, 2)
	entering := going(within(t), b.Enter)
	awaitMembers(t, conn, path, 1)
	if err := b.Enter(within(t)); !errors.Is(err, recipes.ErrEntered) {
		t.Errorf("enter during enter: %v", err)
	}
	notEntered("during enter")
	does(t, other.Enter)
	succeeds(t, entering)
	leaving := going(within(t), b.Leave)
	eventually(t, "it waits", func() bool { return watchesAt(t, path) > 0 })
	if err := b.Enter(within(t)); !errors.Is(err, recipes.ErrEntered) {
		t.Errorf("enter during leave: %v", err)
	}
	notEntered("during leave")

	// With a context that has ended the member still leaves.
	if err := other.Leave(cancelled); !errors.Is(err, why) {
		t.Errorf("leave with a cancelled context: %v", err)
	}
	succeeds(t, leaving)
	does(t, other.Leave)
	nothingLeft(t, conn, path)
}

func TestDoubleBarrierOnAClosedClient(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	a, b, c := connect(t, addrsOf(t)), connect(t, addrsOf(t)), connect(t, addrsOf(t))
	inside := recipes.NewDoubleBarrier(a, path, 2)
	leaving := recipes.NewDoubleBarrier(b, path, 2)
	together(t, inside.Enter, leaving.Enter)
	let := going(within(t), leaving.Leave)
	does(t, a.Close)
	if err := returns(t, let); err != nil { // the other's session has ended
		t.Error(err)
	}
	for range 2 {
		if err := inside.Leave(within(t)); !errors.Is(err, recipes.ErrClosed) {
			t.Errorf("leave on a closed client: %v", err)
		}
		if err := inside.Enter(within(t)); !errors.Is(err, recipes.ErrClosed) {
			t.Errorf("enter on a closed client: %v", err)
		}
	}
	entering := going(within(t), recipes.NewDoubleBarrier(c, path, 2).Enter)
	awaitMembers(t, conn, path, 1)
	does(t, c.Close)
	if err := returns(t, entering); !errors.Is(err, recipes.ErrClosed) {
		t.Errorf("enter while the client is closed: %v", err)
	}
	nothingLeft(t, conn, path)
}
