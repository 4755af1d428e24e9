package workload

import (
	"context"
	"sync"
	"sync/atomic"
	"time"
)

// lobby gathers the members of the rounds of one double barrier. Its rounds
// do not overlap: a member of one must never be counted in the next, not even
// what a broken round has left behind. Clients meet in the lobby and nowhere
// else: once a round has begun each is on its own.
type lobby struct {
	size int
	// rest is how long after a broken round the next may begin at the
	// earliest: a request of the old one may be under way for as long as a
	// session lives without an answer.
	rest time.Duration
	// clean reports whether nothing is left of the members of a broken round.
	clean func() bool

	mu         sync.Mutex
	generation int       // of the round that gathers or is under way
	next       *round    // that gathers; nil while one is under way
	notBefore  time.Time // set by a broken round
	opened     chan struct{}
}

// round is one use of a double barrier, by members of one generation.
type round struct {
	lobby      *lobby
	generation int
	begun      chan struct{} // closed when it has begun
	ranked     atomic.Int64  // members that have been told which of them they are

	// Locked by the lobby.
	members int // that have joined
	inside  int // that have not ended their part
	short   bool
	broken  bool
}

func newLobby(size int, rest time.Duration, clean func() bool) *lobby {
	l := &lobby{size: size, rest: rest, clean: clean, opened: make(chan struct{})}
	l.open()
	return l
}

// open lets the next round gather. The lobby is locked, or not shared yet.
func (l *lobby) open() {
	l.generation++
	l.next = &round{lobby: l, generation: l.generation, begun: make(chan struct{})}
	close(l.opened)
}

// join waits for the other members and returns the round when it has begun, or
// nil if it has not when ctx or patience ends. If it is pushy the round begins
// then with whoever is there: too few.
func (l *lobby) join(ctx context.Context, patience time.Duration, pushy bool) *round {
	waiting, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	r := l.enter(waiting)
	if r == nil {
		return nil
	}
	select {
	case <-r.begun:
		return r
	case <-waiting.Done():
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	select {
	case <-r.begun:
		return r
	default:
	}
	if pushy && ctx.Err() == nil {
		r.short = true
		r.begin()
		return r
	}
	r.members--
	return nil
}

// wanted reports whether somebody waits there for others to come.
func (l *lobby) wanted() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.next != nil && l.next.members > 0
}

// enter waits until a round gathers and what a broken one has left is gone, and
// counts itself in.
func (l *lobby) enter(ctx context.Context) *round {
	for {
		l.mu.Lock()
		r, opened, notBefore := l.next, l.opened, l.notBefore
		if r != nil && notBefore.IsZero() {
			r.members++
			if r.members == l.size {
				r.begin()
			}
			l.mu.Unlock()
			return r
		}
		l.mu.Unlock()
		switch {
		case r == nil:
			select {
			case <-opened:
			case <-ctx.Done():
				return nil
			}
		case time.Now().After(notBefore) && l.clean():
			l.mu.Lock()
			if l.notBefore == notBefore {
				l.notBefore = time.Time{}
			}
			l.mu.Unlock()
		default:
			pause(ctx, settleEvery, nil)
			if ctx.Err() != nil {
				return nil
			}
		}
	}
}

// begin lets the members go. The lobby is locked.
func (r *round) begin() {
	r.inside = r.members
	r.lobby.next, r.lobby.opened = nil, make(chan struct{})
	close(r.begun)
}

// end is called by each member when it has ended its part.
func (r *round) end(broken bool) {
	l := r.lobby
	l.mu.Lock()
	defer l.mu.Unlock()
	r.broken = r.broken || broken || r.short
	r.inside--
	if r.inside > 0 {
		return
	}
	if r.broken {
		l.notBefore = time.Now().Add(l.rest)
	}
	l.open()
}
