package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/recipes"
)

// Requests that are not answered, and calls that are cancelled at each of them.

// requestsOfARound holds the requests that a member makes in Enter and Leave.
var requestsOfARound = []struct {
	name string
	op   int32
}{{"create", opCreate}, {"create of the parent", opCreateContainer}, {"look", opExists},
	{"list", opChildren}, {"get", opGetData}, {"transaction", opMulti}, {"delete", opDelete}}

func TestCurator45DoubleBarrierWithLostReplies(t *testing.T) {
	apart(t)
	for _, op := range requestsOfARound {
		for _, side := range []string{"request", "reply"} {
			for skip := range 3 {
				t.Run(fmt.Sprintf("%s of %s %d", side, op.name, skip), func(t *testing.T) {
					path := uniquePath(t)
					conn := admin(t)
					a, b, wire, _ := pair(t, path)
					lose := func() {
						n := 0
						hook := func(got int32) bool {
							if got == op.op {
								n++
							}
							return got != op.op || n != skip+1
						}
						if side == "request" {
							wire.on(hook, nil)
						} else {
							wire.on(nil, hook)
						}
					}
					oracle := newSteps(2)
					for round := range 3 {
						lose()
						together(t,
							func(ctx context.Context) error { return oracle.take(ctx, a, round) },
							func(ctx context.Context) error { return oracle.take(ctx, b, round) })
					}
					oracle.check(t)
					wire.on(nil, nil)
					nothingLeft(t, conn, path)
				})
			}
		}
	}
}

// TestCancelAtEveryAwaitPointOfADoubleBarrier stops Enter and Leave at each
// request, before the server gets it and after the server has answered, cancels there, and checks
// that no node is left: CURATOR-318, CURATOR-80, vitess #15756.
func TestCancelAtEveryAwaitPointOfADoubleBarrier(t *testing.T) {
	for _, test := range []struct {
		call string
		ops  []int32 // a negative value stands for the second such request
	}{
		{"the first to enter", []int32{opCreate, opCreateContainer, opExists, opChildren}},
		{"the last to enter", []int32{opCreate, opExists, opChildren, opMulti, opGetData}},
		{"the first to leave, with the lowest name", []int32{opChildren, opGetData}},
		{"the first to leave", []int32{opChildren, opGetData, opMulti, -opGetData}},
		{"the last to leave, with the lowest name", []int32{opChildren, opGetData, opMulti}},
		{"the last to leave", []int32{opChildren, opGetData, opMulti}},
	} {
		for _, op := range test.ops {
			for _, side := range []string{"request", "reply"} {
				t.Run(fmt.Sprintf("%s, %s of %d", test.call, side, op), func(t *testing.T) {
					cancelAt(t, test.call, op, side)
				})
			}
		}
	}
}

func cancelAt(t *testing.T, call string, op int32, side string) {
	leavesNoGoroutine(t)
	path := uniquePath(t)
	conn := admin(t)
	subject, other, wire, wireOther := pair(t, path)
	enters := strings.HasSuffix(call, "to enter")
	if !enters {
		together(t, subject.Enter, other.Enter)
		id, _ := wire.credentials()
		if strings.HasSuffix(call, "with the lowest name") != (lowestOwner(t, conn, path) == id) {
			subject, other, wire = other, subject, wireOther
		}
	}
	var others <-chan error
	switch {
	case strings.HasPrefix(call, "the last to enter"):
		others = going(within(t), other.Enter)
		eventually(t, "the other waits", func() bool { return childWatches(t) == 1 })
	case strings.HasPrefix(call, "the last to leave"):
		others = going(within(t), other.Leave)
		eventually(t, "the other waits", func() bool { return watchesAt(t, path) == 1 })
	}

	reached, goOn := make(chan struct{}), make(chan struct{})
	hook := once(op, func() bool { close(reached); <-goOn; return true })
	if op < 0 {
		skipped, second := false, once(-op, func() bool { close(reached); <-goOn; return true })
		hook = func(got int32) bool {
			if got == -op && !skipped {
				skipped = true
				return true
			}
			return second(got)
		}
	}
	if side == "request" {
		wire.on(hook, nil)
	} else {
		wire.on(nil, hook)
	}
	ctx, cancel := context.WithCancel(within(t))
	method := subject.Leave
	if enters {
		method = subject.Enter
	}
	done := going(ctx, method)
	<-reached
	cancel()
	close(goOn)
	err := returns(t, done)
	if err != nil && !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
	if err == nil && enters { // the last reply came before the cancel
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
		defer cancel()
		_ = subject.Leave(ctx)
	}

	// The other member is alone now.
	switch call {
	case "the first to leave", "the first to leave, with the lowest name":
		does(t, other.Leave)
	case "the last to leave", "the last to leave, with the lowest name":
		succeeds(t, others)
	case "the last to enter":
		eventually(t, "its node is gone", func() bool { return len(members(t, conn, path)) == 1 })
		begun := exists(t, conn, path+"/ready")
		if !begun {
			waits(t, others)
			does(t, subject.Enter)
		}
		succeeds(t, others)
		if !begun {
			together(t, subject.Leave, other.Leave)
		} else {
			does(t, other.Leave)
		}
	}
	nothingLeft(t, conn, path)
	together(t, subject.Enter, other.Enter)
	together(t, subject.Leave, other.Leave)
	nothingLeft(t, conn, path)
}

func TestTheContextBoundsADoubleBarrierAlsoWithoutANetwork(t *testing.T) {
	apart(t)
	for _, cut := range links.Cuts() {
		t.Run(string(cut), func(t *testing.T) {
			path := uniquePath(t)
			conn := admin(t)
			addresses, ls := linked(t)
			c := connect(t, addresses, recipes.WithSessionTimeout(20*time.Second))
			a, b := recipes.NewDoubleBarrier(c, path, 2), recipes.NewDoubleBarrier(connect(t, addrsOf(t)), path, 2)
			short := func(call func(context.Context) error) {
				t.Helper()
				ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
				defer cancel()
				if err := returns(t, going(ctx, call)); !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
			}
			cutAll(t, ls, cut)
			short(a.Enter)
			healAll(t, ls)
			together(t, a.Enter, b.Enter)
			cutAll(t, ls, cut)
			short(a.Leave)
			leaving := going(within(t), b.Leave)
			healAll(t, ls)
			succeeds(t, leaving)
			does(t, a.Leave)
			nothingLeft(t, conn, path)
			together(t, a.Enter, b.Enter)
			together(t, a.Leave, b.Leave)
		})
	}
}

func TestCurator180TheDirectoryOfADoubleBarrierIsReaped(t *testing.T) {
	path := uniquePath(t)
	conn := admin(t)
	a, b, wire, _ := pair(t, path)
	for round := range 3 {
		// Between the create of the directory and that of the member's node.
		if round > 0 {
			wire.on(nil, once(opCreateContainer, func() bool {
				err := conn.Delete(path, -1)
				if err != nil && !errors.Is(err, zk.ErrNoNode) && !errors.Is(err, zk.ErrNotEmpty) {
					t.Error(err)
				}
				return true
			}))
		}
		together(t, a.Enter, b.Enter)
		together(t, a.Leave, b.Leave)
		if err := conn.Delete(path, -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
			t.Fatal(err)
		}
	}
}
