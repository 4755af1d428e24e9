package recipes_test

import (
	"context"
	"encoding/binary"
	"errors"
	"net"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// releaser is a lease of any kind.
type releaser interface{ Release(context.Context) error }

type releaseFunc func(context.Context) error

func (f releaseFunc) Release(ctx context.Context) error { return f(ctx) }

// nothing is the lease of a call that holds no lock.
var nothing = releaseFunc(func(context.Context) error { return nil })

type outcome struct {
	lease releaser
	err   error
}

type callFunc func(ctx context.Context) (releaser, error)

// calling starts a call and returns the channel of its outcome.
func calling(ctx context.Context, call callFunc) <-chan outcome {
	done := make(chan outcome, 1)
	go func() {
		l, err := call(ctx)
		done <- outcome{l, err}
	}()
	return done
}

// stage is the environment of the trials: a client whose packets can be stopped, another client,
// and a path of their own.
type stage struct {
	*testing.T
	c, other *recipes.Client
	wire     *intercept
	conn     outsider
	path     string       // of the trial
	paths    []string     // of all trials
	stay     int          // watches of the trials that may stay
	children int          // watches on children that other clients have
	asked    atomic.Int64 // watches that the client has asked for
}

func newStage(t *testing.T) *stage {
	s := &stage{T: t, wire: new(intercept)}
	// No poll and no deadline interferes: a waiter that is not woken looks again after 45 s, when
	// the call has failed.
	long := recipes.WithSessionTimeout(time.Minute)
	s.c = connect(t, addrsOf(t), recipes.WithDialer(s.dial), long)
	s.other = connect(t, addrsOf(t), long)
	s.conn = admin(t)
	s.children = childWatches(t)
	return s
}

// trial is one call with its preparations.
type trial struct {
	call  callFunc
	block callFunc // acquires the lock that the call waits for, if any
	nodes int      // nodes of its lease

	undo func() error // releases the lock that was held before the call
	mine bool         // that lock belongs to the same session

	refused error // error that the call returns at once instead of waiting
	watches int   // that may stay: those of nodes that stay
}

// nodes returns the contenders' nodes and permits below the stage's path.
func (s *stage) nodes() []string {
	s.Helper()
	if err := s.conn.catchUp(); err != nil { // once: only requests answered before the call of nodes count
		s.Fatal(err)
	}
	var found []string
	var walk func(path string)
	walk = func(path string) {
		children, _, err := s.conn.Conn.Children(path)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			s.Fatal(err)
		}
		for _, child := range children {
			if strings.HasPrefix(child, "_c_") {
				found = append(found, child)
			} else {
				walk(path + "/" + child)
			}
		}
	}
	walk(s.path)
	slices.Sort(found)
	return found
}

// leaves waits until exactly these nodes exist.
func (s *stage) leaves(want []string) {
	s.Helper()
	var got []string
	there := false
	defer func() {
		if !there {
			s.Logf("nodes %v, want %v", got, want)
		}
	}()
	eventually(s.T, "the nodes are as they were", func() bool {
		got = s.nodes()
		there = slices.Equal(got, want)
		return there
	})
}

func (s *stage) must(call callFunc) releaser {
	s.Helper()
	l, err := call(within(s.T))
	if err != nil {
		s.Fatal(err)
	}
	return l
}

func (s *stage) release(l releaser) {
	s.Helper()
	if err := l.Release(within(s.T)); err != nil {
		s.Fatal(err)
	}
}

// await waits for the result of a call.
func (s *stage) await(done <-chan outcome) outcome {
	s.Helper()
	select {
	case o := <-done:
		return o
	case <-time.After(patient):
		s.Fatal("the call does not return")
		panic("unreachable")
	}
}

// watches counts the watches on all paths of the stage.
func (s *stage) watches() int {
	s.Helper()
	return watchesBelow(s.T, s.paths...) + childWatches(s.T) - s.children
}

// watched waits until the client has asked for more than n watches.
func (s *stage) watched(n int64) {
	s.Helper()
	eventually(s.T, "a watch is asked for", func() bool { return s.asked.Load() > n })
}

func (s *stage) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := s.wire.dial(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return watchConn{conn, s}, nil
}

// watchConn counts the requests that ask for a watch.
type watchConn struct {
	net.Conn
	s *stage
}

func (c watchConn) Write(p []byte) (int, error) {
	switch int32(binary.BigEndian.Uint32(p[8:])) {
	case opExists, opGetData, opChildren:
		if p[len(p)-1] != 0 {
			c.s.asked.Add(1)
		}
	}
	return c.Conn.Write(p)
}

// begins prepares a trial at a new path.
func (s *stage) begins(prepare func(*stage) trial) trial {
	s.Helper()
	s.at(uniquePath(s.T))
	tr := prepare(s)
	s.stay += tr.watches
	return tr
}

// at sets the path of the next trial.
func (s *stage) at(path string) { s.path, s.paths = path, append(s.paths, path) }

// ends checks that a trial works without a disturbance, and that it leaves no node.
func (s *stage) ends(tr trial, bare []string) {
	s.Helper()
	s.wire.on(nil, nil)
	s.release(s.must(tr.call))
	s.leaves(bare)
	if tr.undo != nil {
		if err := tr.undo(); err != nil && !(tr.mine && errors.Is(err, recipes.ErrLeaseLost)) {
			s.Fatal(err)
		}
	}
	s.leaves(nil)
}

// leavesNoWatch waits until no watch of any trial remains. To count the watches costs the servers
// more than a trial does.
func (s *stage) leavesNoWatch() {
	s.Helper()
	eventually(s.T, "no watch is left", func() bool { return s.watches() <= s.stay })
}

// rehearse runs the call undisturbed and returns its points.
func (s *stage) rehearse(prepare func(*stage) trial) (points []point) {
	s.Helper()
	tr := s.begins(prepare)
	var blocker releaser
	bare := s.nodes()
	if tr.block != nil {
		blocker = s.must(tr.block)
	}
	watches := s.asked.Load()
	p := newPrompter(point{}, "", nil)
	p.on(s.wire)
	if tr.refused != nil {
		if l, err := tr.call(within(s.T)); !errors.Is(err, tr.refused) {
			s.Fatalf("got %v, %v, want %v", l, err, tr.refused)
		}
		s.release(blocker)
		points = p.points()
		s.ends(tr, bare)
		return points
	}
	done := calling(within(s.T), tr.call)
	if blocker != nil {
		s.watched(watches)
		eventually(s.T, "it asks for nothing more while it waits", func() bool {
			before := len(p.points())
			time.Sleep(20 * time.Millisecond)
			return len(p.points()) == before
		})
		p.turn(granting)
		s.release(blocker)
	}
	o := s.await(done)
	if o.err != nil {
		s.Fatal(o.err)
	}
	p.turn(releasing)
	s.release(o.lease)
	points = p.points()
	s.ends(tr, bare)
	if tr.block == nil {
		return points
	}

	// Run the call again, and cancel it while it waits.
	tr = s.begins(prepare)
	bare = s.nodes()
	blocker = s.must(tr.block)
	standing := s.nodes()
	watches = s.asked.Load()
	p = newPrompter(point{}, "", nil)
	p.on(s.wire)
	ctx, cancel := context.WithCancel(within(s.T))
	defer cancel()
	done = calling(ctx, tr.call)
	s.watched(watches)
	p.turn(cleaning)
	cancel()
	s.await(done)
	s.leaves(standing)
	for _, at := range p.points() {
		if at.phase == cleaning {
			points = append(points, at)
		}
	}
	s.release(blocker)
	s.ends(tr, bare)
	return points
}
