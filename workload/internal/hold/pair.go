package hold

import (
	"context"
	"sync"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/lock"
)

// pair is two acquires of one lock, for one owner, that are under way at the same time. In the
// history a process has one operation at a time: the acquire that does not wait for the other is on
// record from the beginning, the other one from then on.
type pair struct {
	c       *client.Client
	claims  [2]Claim
	ops     [2]*attempt // in the order of the record
	results chan result // of the calls that have returned
}

type result struct {
	call  int // of the pair
	lease lock.Lease
	err   error
	late  time.Duration
}

// AcquireBoth acquires one lock by two calls at a time, for one owner: the second is made some time
// apart from the first, and in another mode not before the first has a place in the queue, so that it
// is known which of the two the owner makes first. It returns the hold of the first that got the
// lock, which has the lease of the other too if that entered it, and any other hold.
func AcquireBoth(ctx context.Context, c *client.Client, first, second Claim, apart time.Duration) (h, other *Hold, err error) {
	p := &pair{c: c, claims: [2]Claim{first, second}, results: make(chan result, 2)}
	for i := range p.ops {
		p.ops[i] = newAttempt(c, histories.Acquire, p.claims[i].Event)
		p.ops[i].unheard = true
	}
	ctx, returned := c.Cancellable(ctx)
	defer returned()
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.ops[0].begin()
	p.call(ctx, apart)
	r := <-p.results
	var next *result
	if !p.first(r) {
		later := r
		if r = <-p.results; p.alike() && r.err != nil {
			r, later = later, r // both have failed, or the other has entered a hold that is over
		}
		next = &later
	}
	h, _ = p.ops[0].end(r.lease, r.err, r.late)
	p.ops[1].begin()
	if next == nil {
		if h != nil {
			// It must not wait for the first, which is given back only when it has returned.
			defer time.AfterFunc(c.Run.SessionTimeout*3/4, cancel).Stop()
		}
		last := <-p.results
		next = &last
	}
	other, err = p.end(h, *next)
	if h == nil {
		return other, nil, err
	}
	return h, other, nil
}

// call begins both calls. They end when their results are in the channel.
func (p *pair) call(ctx context.Context, apart time.Duration) {
	begun, once := make(chan struct{}), sync.Once{}
	begins := func() { once.Do(func() { close(begun) }) }
	if p.alike() {
		begins()
	}
	run := func(i int) {
		late := lateness(ctx)
		lease, err := p.claims[i].Acquire(lock.WithAttempt(ctx, lock.Attempt{Owner: p.ops[i].Owner, Enqueued: func(at lock.Place) {
			p.enqueued(i, at)
			begins()
		}}))
		p.results <- result{i, lease, err, late()}
		begins()
	}
	go run(0)
	go func() {
		<-begun
		wait.For(ctx, apart)
		run(1)
	}()
}

// first reports whether a result that has come before the other is that of the first operation. The one
// that waits for the other is the second: it enters the hold of the other, fails because of it, or gives up.
// The places may then be those of the other.
func (p *pair) first(r result) bool {
	if !p.alike() {
		return r.call == 0
	}
	nested, ok := r.lease.(lock.NestedLease)
	return r.err == nil && !(ok && nested.Depth() > 1)
}

// alike reports whether the calls ask for the same: then the first that returns may be either.
func (p *pair) alike() bool { return p.claims[0].Event.Mode == p.claims[1].Event.Mode }

// enqueued records a place of a call with its operation, if that is on record.
func (p *pair) enqueued(call int, at lock.Place) {
	for i, op := range p.ops {
		if p.alike() || i == call {
			op.enqueued(at)
		}
	}
}

// end records the completion of the acquire that returned last. It returns the hold if that is not h.
func (p *pair) end(h *Hold, r result) (*Hold, error) {
	op := p.ops[1]
	if r.err != nil {
		if h != nil {
			h.IsLost()
		}
		op.mu.Lock()
		defer op.mu.Unlock()
		op.failed(r.err, r.late, p.alike() || op.holds == 0)
		return nil, r.err
	}
	if h == nil || !p.alike() || r.lease.Token() != h.Event.Token {
		return op.end(r.lease, nil, r.late)
	}
	h.IsLost()
	op.mu.Lock()
	defer op.mu.Unlock()
	if _, nested := r.lease.(lock.NestedLease); !nested {
		op.Depth = 2
	}
	op.c.Record(op.done(r.lease, r.late))
	h.inner = r.lease
	return nil, nil
}

// Levels returns the leases that the hold has begun with, outermost first.
func (h *Hold) Levels() []lock.Lease {
	if h.inner != nil {
		return []lock.Lease{h.Lease, h.inner}
	}
	return []lock.Lease{h.Lease}
}
