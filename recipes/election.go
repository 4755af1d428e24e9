package recipes

import (
	"context"
	"errors"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Election elects one leader at a time among the candidates at a path: Curator's LeaderLatch, on
// the same paths, with a fencing token and a notification of the loss.
//
// Candidates stand in a queue, and the first one leads. A leader's term is a [Lease]: Release
// resigns, and a leader that loses its link is told before the servers can let another candidate
// lead.
type Election struct{ queue Mutex }

// NewElection returns the election at path. [WithData] sets the data that a candidate announces,
// such as an address: Curator's id.
func NewElection(client *Client, path string, options ...LockOption) *Election {
	m := Mutex{client: client, path: client.resolve(path), kind: queue.Latch, kinds: queue.Latches, rule: queue.Exclusive, cfg: newLockConfig(client, "Election", options)}
	if m.cfg.selector {
		m.kind, m.kinds = queue.Lock, queue.Locks
		if m.cfg.revoked == nil {
			m.cfg.revoked = func(*Lease) {} // a request hides the leader's data until the leader restores it
		}
	}
	return &Election{m}
}

// Path returns the election's path.
func (e *Election) Path() string { return e.queue.path }

// Campaign creates a candidate, waits until it is elected, and returns its term. Each call creates
// a candidate of its own.
func (e *Election) Campaign(ctx context.Context) (*Lease, error) {
	return e.campaign(ctx, "campaign", true)
}

// TryCampaign returns a term if there is no other candidate, as [Mutex.TryAcquire] does, and
// [ErrNotAcquired] otherwise.
func (e *Election) TryCampaign(ctx context.Context) (*Lease, error) {
	return e.campaign(ctx, "try-campaign", false)
}

func (e *Election) campaign(ctx context.Context, op string, block bool) (*Lease, error) {
	lease, err := e.queue.acquire(ctx, block)
	if err == nil && lease.Depth() > 1 {
		lease.start()
		err = ErrAlreadyHeld
	}
	if err != nil {
		return nil, e.queue.client.failed(ctx, op, e.Path(), err)
	}
	return lease, nil
}

// Held reports whether a candidate of this Client leads: Curator's hasLeadership.
func (e *Election) Held() bool { return e.queue.Held() }

// Run campaigns, calls lead when it is elected, and resigns when lead returns. The context that
// lead gets ends with ctx or with the term, as in [Mutex.Do].
//
// If the term was lost meanwhile, Run campaigns again, unless lead has returned an error that is
// neither [ErrLeaseLost] nor context.Canceled: work that was done in a lost term does not count
// as done. Run waits before it campaigns again: 50 ms to 100 ms after the first loss, twice as
// long after each further one, a session timeout at most. The loss of a term that has lasted
// longer than a session timeout counts as the first one again.
//
// Run returns lead's error when lead returns in its term, ctx's cause when ctx ends, and
// otherwise the error of Campaign.
func (e *Election) Run(ctx context.Context, lead func(ctx context.Context, term *Lease) error) error {
	for losses := 0; ; losses++ {
		term, err := e.Campaign(ctx)
		if err != nil {
			return err
		}
		began, led := time.Now(), error(nil)
		elected := func(context.Context) (*Lease, error) { return term, nil }
		err = do(ctx, elected, func(ctx context.Context, _ *Lease) error {
			led = lead(ctx, term)
			return led
		})
		resigned := term.Release(ctx) // a second time, for its result: lead may have lost another lock
		lost := errors.Is(resigned, ErrLeaseLost) && !errors.Is(resigned, errUnconfirmed)
		excused := led == nil || errors.Is(led, ErrLeaseLost) || errors.Is(led, context.Canceled)
		if ctx.Err() != nil || !lost || !excused {
			return err
		}
		longest := e.queue.client.SessionTimeout()
		if time.Since(began) > longest {
			losses = 0
		}
		waitToCampaign(ctx, losses, longest)
	}
}

// waitToCampaign waits after a loss, at most until ctx ends. The number before counts the losses
// in a row that preceded it.
func waitToCampaign(ctx context.Context, before int, longest time.Duration) {
	wait := min(longest, 100*time.Millisecond<<min(before, 20))
	wait = wait/2 + session.Random(wait/2)
	over := time.NewTimer(wait)
	defer over.Stop()
	select {
	case <-over.C:
	case <-ctx.Done():
	}
}

// Participants lists the candidates in the order in which they will lead; the first one leads.
// See [Mutex.Participants].
func (e *Election) Participants(ctx context.Context) ([]Participant, error) {
	all, err := e.queue.Participants(ctx)
	for i, p := range all {
		all[i] = announced(p)
	}
	return all, err
}
