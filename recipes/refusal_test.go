package recipes_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// Servers refuse each request of every call in turn, as without permission. The caller gets an
// error; no contender overtakes another, no node remains, and the next call succeeds. Two
// refusals cause no error: of a list that comes with the place in the queue, and of a release,
// which continues in the background.
func TestARefusalAtEachRequest(t *testing.T) {
	onEveryTrial(t, apart, func(s *stage, prepare func(*stage) trial, points []point) {
		missed := 0
		for _, at := range points {
			if at.phase == cleaning {
				continue // that has no answer
			}
			// A race decides whether some requests are made.
			there, err := s.refuseAt(prepare, at, false)
			for tries := 1; !there && tries < 3; tries++ {
				there, err = s.refuseAt(prepare, at, false)
			}
			if !there {
				missed++
			} else if err == nil && at.op != opChildren && at.phase != releasing {
				s.Errorf("%s: refused, and the call returns no error", at)
			}
		}
		if missed*2 > len(points) { // a busy machine decides races for others
			s.Errorf("%d of %d points were never come to", missed, len(points))
		}
	})
}

// Servers refuse all read requests from each such request of every call on: the caller gets an
// error, and the client does not repeat the request again and again.
func TestARefusalFromEachRequestOn(t *testing.T) {
	onEveryTrial(t, apart, func(s *stage, prepare func(*stage) trial, points []point) {
		for _, at := range points {
			if at.changes() || at.phase == cleaning || at.phase == releasing {
				continue
			}
			if there, err := s.refuseAt(prepare, at, true); there && err == nil {
				s.Errorf("%s: refused from there on, and the call returns no error", at)
			}
		}
	})
}

// refuseAt reports whether the call reached that point, and the error that it or the release
// returned. With andOn, all requests of the point's kind are refused from there on, otherwise
// only this one.
func (s *stage) refuseAt(prepare func(*stage) trial, at point, andOn bool) (there bool, err error) {
	s.Helper()
	tr := s.begins(prepare)
	bare := s.nodes()
	var blocker releaser
	if tr.block != nil {
		blocker = s.must(tr.block)
	}
	watches := s.asked.Load()
	p := newPrompter(at, "request", s.wire.refuse)
	p.on(s.wire)
	if andOn {
		s.wire.on(func(op int32) bool {
			if p.request(op); op == at.op && p.hasActed() {
				s.wire.refuse()
			}
			return true
		}, nil)
	}
	done := calling(within(s.T), tr.call)
	var o outcome
	returned := false
	if blocker != nil {
		eventually(s.T, at.String()+": it waits, or has returned", func() bool {
			select {
			case o = <-done:
				returned = true
			default:
			}
			return returned || s.asked.Load() > watches
		})
		if returned && o.err == nil {
			s.Errorf("%s: it has not waited", at)
		}
		p.turn(granting)
		s.release(blocker)
	}
	if !returned {
		o = s.await(done)
	}
	if andOn {
		s.wire.on(nil, nil)
	}
	if err = o.err; err == nil {
		p.turn(releasing)
		err = o.lease.Release(within(s.T))
	}
	if err != nil && !errors.Is(err, zk.ErrNoAuth) && !(tr.refused != nil && errors.Is(err, tr.refused)) {
		s.Errorf("%s: %v", at, err)
	}
	s.ends(tr, bare)
	return p.hasActed(), err
}

// No member leaves a round before the other does, whichever request the servers refuse, and also
// if a member of Curator's has deleted the ready node. The other member can leave, and the next
// round is complete.
func TestARefusalAtEachRequestOfALeave(t *testing.T) {
	apart(t)
	for _, ready := range []bool{true, false} {
		for _, op := range []int32{opChildren, opGetData, opExists, opMulti, opDelete} {
			for nth := 1; ; nth++ {
				at, came := point{queueing, op, nth}, false
				roles(t, func(t *testing.T, conn outsider, path string, subject, other *recipes.DoubleBarrier, wire *intercept) {
					if !ready {
						if err := conn.Delete(path+"/ready", -1); err != nil {
							t.Fatal(err)
						}
					}
					p := newPrompter(at, "request", wire.refuse)
					p.on(wire)
					leaving := going(within(t), subject.Leave)
					told := false
					eventually(t, fmt.Sprintf("ready %v, %s: it waits, or is told", ready, at), func() bool {
						select {
						case err := <-leaving:
							if told = true; !errors.Is(err, zk.ErrNoAuth) {
								t.Errorf("ready %v, %s: %v while the other is inside", ready, at, err)
							}
						default:
						}
						return told || watchesAt(t, path) == 1
					})
					does(t, other.Leave)
					if !told {
						if err := returns(t, leaving); p.hasActed() != errors.Is(err, zk.ErrNoAuth) || !p.hasActed() && err != nil {
							t.Errorf("ready %v, %s: %v, refused %v", ready, at, err, p.hasActed())
						}
					}
					came = came || p.hasActed()
					wire.on(nil, nil)
					nothingLeft(t, conn, path)
					together(t, round(subject), round(other))
					nothingLeft(t, conn, path)
				})
				if !came {
					break
				}
			}
		}
	}
}

// No member enters alone because the servers refuse a request: the member that enters last, the
// one that waits for it, and one that joins a round get an error, and their next Enter succeeds.
func TestARefusalAtEachRequestOfAnEnter(t *testing.T) {
	apart(t)
	for _, who := range []string{"the last", "the first", "one more"} {
		for _, op := range []int32{opCreate, opCreateContainer, opChildren, opGetData, opExists, opMulti} {
			for nth := 1; ; nth++ {
				path := uniquePath(t)
				conn := admin(t)
				n := 2
				if who == "one more" {
					n = 1
				}
				wire := new(intercept)
				long := recipes.WithSessionTimeout(20 * time.Second)
				subject := recipes.NewDoubleBarrier(connect(t, addrsOf(t), recipes.WithDialer(wire.dial), long), path, n)
				other := recipes.NewDoubleBarrier(connect(t, addrsOf(t), long), path, n)
				at := point{queueing, op, nth}
				p := newPrompter(at, "request", wire.refuse)

				var entering, others <-chan error
				if who == "the first" {
					p.on(wire)
					entering = going(within(t), subject.Enter)
					eventually(t, fmt.Sprintf("%s, %s: it waits, or is told", who, at), func() bool { return len(entering) == 1 || childWatches(t) == 1 })
				}
				others = going(within(t), other.Enter)
				if who != "the first" {
					eventually(t, "the other one waits, or is in", func() bool { return len(others) == 1 || childWatches(t) == 1 })
					p.on(wire)
					entering = going(within(t), subject.Enter)
				}
				if err := returns(t, entering); p.hasActed() != errors.Is(err, zk.ErrNoAuth) || !p.hasActed() && err != nil {
					t.Errorf("%s, %s: %v, refused %v", who, at, err, p.hasActed())
				} else if err != nil {
					wire.on(nil, nil)
					does(t, subject.Enter)
				}
				wire.on(nil, nil)
				if err := returns(t, others); err != nil {
					t.Errorf("%s, %s: the other one: %v", who, at, err)
				}
				together(t, subject.Leave, other.Leave)
				nothingLeft(t, conn, path)
				if !p.hasActed() {
					break
				}
			}
		}
	}
}
