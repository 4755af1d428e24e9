package drive

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/internal/wait"
)

// rendezvous is the meeting point of the members of the rounds of one double barrier, in the
// run's own process. Rounds do not overlap: a member of one must never be counted in the next,
// nor a node that a broken round has left. Clients meet here and nowhere else: once a round has
// begun each is on its own.
type rendezvous struct {
	size int
	// rest is the time after a broken round before the next may begin: a request of the old one
	// may be under way for as long as a session lives without an answer.
	rest time.Duration
	// clean reports whether no node is left of the members of a broken round.
	clean func() bool
	// apart says that not only clients that meet here use the barrier: their rounds have no number.
	apart bool

	mu         sync.Mutex
	generation int       // of the round that gathers or is under way
	next       *round    // the round that gathers; nil while one is under way
	notBefore  time.Time // set by a broken round
	opened     chan struct{}
}

// round is one use of a double barrier, by members of one generation.
type round struct {
	at         *rendezvous
	generation int
	begun      chan struct{} // closed when it has begun
	ranked     atomic.Int64  // members that have been told their rank

	// Locked by the rendezvous.
	members []context.Context // of the members that have joined, for as long as they wait
	inside  int               // members that have not ended their part
	short   bool
	broken  bool
}

// lookEvery is the interval between looks for nodes that a broken round has left.
const lookEvery = 50 * time.Millisecond

func newRendezvous(size int, rest time.Duration, apart bool, clean func() bool) *rendezvous {
	v := &rendezvous{size: size, rest: rest, apart: apart, clean: clean, opened: make(chan struct{})}
	if apart {
		v.notBefore = time.Now()
	}
	v.open()
	return v
}

// open lets the next round gather. The rendezvous is locked, or not shared yet.
func (v *rendezvous) open() {
	if !v.apart {
		v.generation++
	}
	v.next = &round{at: v, generation: v.generation, begun: make(chan struct{})}
	close(v.opened)
}

// join waits for the other members and returns the round when it has begun, or nil if it has
// not begun when ctx or patience ends. If the member is pushy the round begins then with the
// members that are there: too few.
func (v *rendezvous) join(ctx context.Context, patience time.Duration, pushy bool) *round {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := v.enter(waiting)
	if r == nil {
		return nil
	}
	select {
	case <-r.begun:
	case <-waiting.Done():
	}
	v.mu.Lock()
	defer v.mu.Unlock()
	begun, counted := v.next != r, slices.Contains(r.members, waiting)
	switch {
	case begun && counted:
		return r
	case begun:
		return nil // the round has begun without it
	case pushy && ctx.Err() == nil:
		r.forget()
		r.members = append(r.members, waiting)
		r.short = true
		r.begin()
		return r
	}
	r.members = slices.DeleteFunc(r.members, func(other context.Context) bool { return other == waiting })
	return nil
}

// wanted reports whether a member waits there for others to come.
func (v *rendezvous) wanted() bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.next != nil && len(v.next.members) > 0
}

// enter waits until a round gathers and no node of a broken one is left, and adds the member.
// It returns nil if ctx ends first, even during a look for such nodes.
func (v *rendezvous) enter(ctx context.Context) *round {
	for {
		if ctx.Err() != nil {
			return nil
		}
		v.mu.Lock()
		r, opened, notBefore := v.next, v.opened, v.notBefore
		if r != nil && notBefore.IsZero() {
			r.forget()
			r.members = append(r.members, ctx)
			if len(r.members) == v.size {
				r.begin()
			}
			v.mu.Unlock()
			return r
		}
		v.mu.Unlock()
		switch {
		case r == nil:
			select {
			case <-opened:
			case <-ctx.Done():
				return nil
			}
		case time.Now().After(notBefore) && v.clean():
			v.mu.Lock()
			if v.notBefore == notBefore {
				v.notBefore = time.Time{}
			}
			v.mu.Unlock()
		default:
			wait.For(ctx, lookEvery)
		}
	}
}

// forget forgets members whose time is over, though they have not left yet: if it counted them,
// the others would wait for a member that may do something else by then, such as turn back. The
// rendezvous is locked.
func (r *round) forget() {
	r.members = slices.DeleteFunc(r.members, func(ctx context.Context) bool { return ctx.Err() != nil })
}

// begin lets the members go. The rendezvous is locked.
func (r *round) begin() {
	r.inside = len(r.members)
	r.at.next, r.at.opened = nil, make(chan struct{})
	close(r.begun)
}

// end is called by each member when it has ended its part.
func (r *round) end(broken bool) {
	v := r.at
	v.mu.Lock()
	defer v.mu.Unlock()
	r.broken = r.broken || broken || r.short
	r.inside--
	if r.inside > 0 {
		return
	}
	if r.broken {
		v.notBefore = time.Now().Add(v.rest)
	}
	v.open()
}
