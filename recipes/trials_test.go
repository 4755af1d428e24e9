package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// leasing makes a callFunc of an acquire.
func leasing[L releaser](acquire func(context.Context) (L, error)) callFunc {
	return func(ctx context.Context) (releaser, error) {
		l, err := acquire(ctx)
		if err != nil {
			return nil, err // not a nil *Lease in an interface
		}
		return l, nil
	}
}

// permitsOf makes a callFunc of an acquire of several permits.
func permitsOf(s *recipes.Semaphore, n int) callFunc {
	return leasing(func(ctx context.Context) (*recipes.Lease, error) { return s.AcquireN(ctx, n) })
}

// campaigning makes a callFunc of a campaign.
func campaigning(e *recipes.Election) callFunc {
	return leasing(e.Campaign)
}

// both returns a callFunc that makes two acquires one after the other.
func both(first, second callFunc) callFunc {
	return func(ctx context.Context) (releaser, error) {
		a, err := first(ctx)
		if err != nil {
			return nil, err
		}
		b, err := second(ctx)
		if err != nil {
			return nil, errors.Join(err, a.Release(ctx))
		}
		return releaseFunc(func(ctx context.Context) error { return errors.Join(a.Release(ctx), b.Release(ctx)) }), nil
	}
}

// trials holds the calls of all recipes that wait for servers or for other clients.
var trials = map[string]func(*stage) trial{
	"a mutex that is free": func(s *stage) trial {
		return trial{call: leasing(recipes.NewMutex(s.c, s.path).Acquire), nodes: 1}
	},
	"a mutex that is held": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewMutex(s.c, s.path).Acquire),
			block: leasing(recipes.NewMutex(s.other, s.path).Acquire), nodes: 1,
		}
	},
	"a try of a mutex that is held": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewMutex(s.c, s.path).TryAcquire),
			block: leasing(recipes.NewMutex(s.other, s.path).Acquire), nodes: 1, refused: recipes.ErrNotAcquired,
		}
	},
	"a mutex with a hand-off": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewMutex(s.c, s.path, recipes.WithLocalHandoff(3)).Acquire),
			block: leasing(recipes.NewMutex(s.other, s.path).Acquire), nodes: 1,
		}
	},
	"a rule that admits two, both there": func(s *stage) trial {
		lock := func(c *recipes.Client) callFunc {
			return leasing(recipes.NewMutex(c, s.path, recipes.WithGrantRule(twoAtATime)).Acquire)
		}
		return trial{call: lock(s.c), block: both(lock(s.other), lock(s.other)), nodes: 1}
	},
	"a try under a rule that admits two, both there": func(s *stage) trial {
		two := recipes.WithGrantRule(twoAtATime)
		holding := leasing(recipes.NewMutex(s.other, s.path, two).Acquire)
		return trial{
			call:  leasing(recipes.NewMutex(s.c, s.path, two).TryAcquire),
			block: both(holding, holding), nodes: 1, refused: recipes.ErrNotAcquired,
		}
	},
	"a mutex that is not reentrant, held": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewNonReentrantMutex(s.c, s.path).Acquire),
			block: leasing(recipes.NewNonReentrantMutex(s.other, s.path).Acquire), nodes: 1,
		}
	},
	"a reader behind a writer": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewReadWriteMutex(s.c, s.path).Read().Acquire),
			block: leasing(recipes.NewReadWriteMutex(s.other, s.path).Write().Acquire), nodes: 1,
		}
	},
	"a writer behind a reader": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewReadWriteMutex(s.c, s.path).Write().Acquire),
			block: leasing(recipes.NewReadWriteMutex(s.other, s.path).Read().Acquire), nodes: 1,
		}
	},
	"a try of a write lock while another one reads": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewReadWriteMutex(s.c, s.path).Write().TryAcquire),
			block: leasing(recipes.NewReadWriteMutex(s.other, s.path).Read().Acquire), nodes: 1, refused: recipes.ErrNotAcquired,
		}
	},
	"a downgrade": func(s *stage) trial {
		rw := recipes.NewReadWriteMutex(s.c, s.path)
		w := acquire(s.T, recipes.WithOwner(within(s.T), "owner"), rw.Write())
		return trial{
			call: leasing(func(ctx context.Context) (*recipes.Lease, error) {
				return rw.Read().Acquire(recipes.WithOwner(ctx, "owner"))
			}),
			undo: func() error { return w.Release(within(s.T)) }, mine: true, nodes: 1,
		}
	},
	"permits that are free": func(s *stage) trial {
		return trial{call: permitsOf(recipes.NewSemaphore(s.c, s.path, 3), 2), nodes: 2}
	},
	"permits that are out": func(s *stage) trial {
		return trial{
			call:  permitsOf(recipes.NewSemaphore(s.c, s.path, 3), 2),
			block: permitsOf(recipes.NewSemaphore(s.other, s.path, 3), 2), nodes: 2,
		}
	},
	"a try of permits that are out": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewSemaphore(s.c, s.path, 3).TryAcquire),
			block: permitsOf(recipes.NewSemaphore(s.other, s.path, 3), 3), nodes: 1, refused: recipes.ErrNotAcquired,
		}
	},
	"permits behind another acquirer": func(s *stage) trial {
		other := recipes.NewSemaphore(s.other, s.path, 3)
		return trial{
			call: permitsOf(recipes.NewSemaphore(s.c, s.path, 3), 1),
			block: func(ctx context.Context) (releaser, error) {
				l, err := other.AcquireN(ctx, 2)
				if err != nil {
					return nil, err
				}
				next, giveUp := context.WithCancel(ctx)
				done := calling(next, permitsOf(other, 3))
				eventually(s.T, "another acquirer waits", func() bool { return len(contenders(s.T, s.conn, s.path+"/locks")) > 0 })
				return releaseFunc(func(ctx context.Context) error {
					giveUp()
					<-done
					return l.Release(ctx)
				}), nil
			},
			nodes: 1,
		}
	},
	"permits of a shared size, free": func(s *stage) trial {
		count := recipes.NewSharedCount(s.c, s.path+"/size", 3)
		return trial{call: permitsOf(recipes.NewSharedSemaphore(s.c, s.path, count), 2), nodes: 2}
	},
	"permits of a shared size, out": func(s *stage) trial {
		count := recipes.NewSharedCount(s.c, s.path+"/size", 3)
		return trial{
			call:  permitsOf(recipes.NewSharedSemaphore(s.c, s.path, count), 2),
			block: permitsOf(recipes.NewSharedSemaphore(s.other, s.path, count), 2),
			nodes: 2, watches: 1, // of the size
		}
	},
	"two mutexes that are free": func(s *stage) trial {
		m := recipes.NewMultiLock(recipes.NewMutex(s.c, s.path+"/a"), recipes.NewMutex(s.c, s.path+"/b"))
		return trial{call: leasing(m.Acquire), nodes: 2}
	},
	"two mutexes that are held": func(s *stage) trial {
		m := recipes.NewMultiLock(recipes.NewMutex(s.c, s.path+"/a"), recipes.NewMutex(s.c, s.path+"/b"))
		return trial{
			call: leasing(m.Acquire),
			block: both(leasing(recipes.NewMutex(s.other, s.path+"/a").Acquire),
				leasing(recipes.NewMutex(s.other, s.path+"/b").Acquire)),
			nodes: 2,
		}
	},
	"a mutex and permits": func(s *stage) trial {
		m := recipes.NewMultiLock(recipes.NewMutex(s.c, s.path+"/a"), recipes.NewSemaphore(s.c, s.path+"/b", 1))
		return trial{
			call:  leasing(m.Acquire),
			block: permitsOf(recipes.NewSemaphore(s.other, s.path+"/b", 1), 1), nodes: 2,
		}
	},
	"a try of a mutex and permits": func(s *stage) trial {
		m := recipes.NewMultiLock(recipes.NewMutex(s.c, s.path+"/a"), recipes.NewSemaphore(s.c, s.path+"/b", 1))
		return trial{
			call:  leasing(m.TryAcquire),
			block: permitsOf(recipes.NewSemaphore(s.other, s.path+"/b", 1), 1),
			nodes: 2, refused: recipes.ErrNotAcquired,
		}
	},
	"an election without candidates": func(s *stage) trial {
		return trial{call: campaigning(recipes.NewElection(s.c, s.path)), nodes: 1}
	},
	"an election with a leader": func(s *stage) trial {
		return trial{
			call:  campaigning(recipes.NewElection(s.c, s.path)),
			block: campaigning(recipes.NewElection(s.other, s.path)), nodes: 1,
		}
	},
	"Leader": func(s *stage) trial {
		l := s.must(campaigning(recipes.NewElection(s.other, s.path)))
		return trial{
			call: func(ctx context.Context) (releaser, error) {
				_, err := recipes.NewElection(s.c, s.path).Leader(ctx)
				return nothing, err
			},
			undo: func() error { return l.Release(within(s.T)) },
		}
	},
	"Observe an election that never was": func(s *stage) trial {
		e := recipes.NewElection(s.c, fmt.Sprintf("%s/never-%d", s.path, nextID.Add(1))) // with no watch yet
		return trial{
			call: func(ctx context.Context) (releaser, error) {
				for _, err := range e.Observe(ctx) {
					return nothing, err
				}
				return nothing, nil
			},
			watches: 1, // for the election's node
		}
	},
	"Observe until the leader resigns": func(s *stage) trial {
		return trial{
			call: func(ctx context.Context) (releaser, error) {
				for leader, err := range recipes.NewElection(s.c, s.path).Observe(ctx) {
					if err != nil || leader.Node == "" {
						return nothing, err
					}
				}
				return nothing, nil
			},
			block: campaigning(recipes.NewElection(s.other, s.path)), watches: 1, // of the candidates
		}
	},
	"a try of an election with a leader": func(s *stage) trial {
		return trial{
			call:  leasing(recipes.NewElection(s.c, s.path).TryCampaign),
			block: campaigning(recipes.NewElection(s.other, s.path)), nodes: 1, refused: recipes.ErrNotAcquired,
		}
	},
	"Set of a barrier": func(s *stage) trial {
		b := recipes.NewBarrier(s.c, s.path+"/barrier")
		return trial{call: func(ctx context.Context) (releaser, error) { return releaseFunc(b.Remove), b.Set(ctx) }}
	},
	"Wait for a barrier that is up": func(s *stage) trial {
		b, other := recipes.NewBarrier(s.c, s.path+"/barrier"), recipes.NewBarrier(s.other, s.path+"/barrier")
		return trial{
			call:  func(ctx context.Context) (releaser, error) { return nothing, b.Wait(ctx) },
			block: func(ctx context.Context) (releaser, error) { return releaseFunc(other.Remove), other.Set(ctx) },
		}
	},
	"Get of a count": func(s *stage) trial {
		count := recipes.NewSharedCount(s.c, s.path+"/size", 3)
		return trial{call: func(ctx context.Context) (releaser, error) {
			_, err := count.Get(ctx)
			return nothing, err
		}}
	},
	"Set of a count": func(s *stage) trial {
		count := recipes.NewSharedCount(s.c, s.path+"/size", 3)
		return trial{call: func(ctx context.Context) (releaser, error) { return nothing, count.Set(ctx, 4) }}
	},
	"Revoke": func(s *stage) trial {
		l := acquire(s.T, within(s.T), recipes.NewMutex(s.other, s.path))
		return trial{
			call: func(ctx context.Context) (releaser, error) { return nothing, s.c.Revoke(ctx, l.Node()) },
			undo: func() error { return l.Release(within(s.T)) },
		}
	},
	"Participants": func(s *stage) trial {
		sem := recipes.NewSemaphore(s.other, s.path, 2)
		l := s.must(permitsOf(sem, 2))
		return trial{
			call: func(ctx context.Context) (releaser, error) {
				_, err := recipes.NewSemaphore(s.c, s.path, 2).Participants(ctx)
				return nothing, err
			},
			undo: func() error { return l.Release(within(s.T)) },
		}
	},
}

// onEveryTrial runs f for each trial, with the points of the trial. how is inTurn or apart.
func onEveryTrial(t *testing.T, how func(*testing.T), f func(s *stage, prepare func(*stage) trial, points []point)) {
	for name, prepare := range trials {
		t.Run(name, func(t *testing.T) {
			how(t)
			s := newStage(t)
			points := s.rehearse(prepare)
			if len(points) == 0 {
				t.Fatal("it asks the servers nothing")
			}
			f(s, prepare, points)
			s.leavesNoWatch()
		})
	}
}
