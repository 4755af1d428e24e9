package targets

import (
	"context"
	"sync"
	"sync/atomic"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.RevocableLocker = (*recipesClient)(nil)

func (c *recipesClient) Revocable() lock.RevokerLocker { return recipesRevocable{c} }

// recipesRevocable is the recipes' mutex with revocation.
type recipesRevocable struct{ *recipesClient }

func (r recipesRevocable) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	if !r.env.Choices.Rule {
		return wrapRevocable(r.recipesClient.Acquire(ctx, name))
	}
	heard := new(requests)
	m := recipes.NewMutex(r.client, r.path(name), append(recipesRule(r.env), recipes.WithRevocation(heard.add))...)
	l, err := wrapLease(doing{m, r.env.Choices.Do}.Acquire(named(ctx, recipes.WithOwner)))
	if err != nil {
		return nil, err
	}
	return recipesRevocableLease{l.(*recipesLease), heard}, nil
}

func (r recipesRevocable) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapRevocable(r.recipesClient.TryAcquire(ctx, name))
}

func (r recipesRevocable) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	return wrapRevocable(r.recipesClient.Reenter(ctx, name, held.(recipesRevocableLease).recipesLease))
}

// Holder returns the first participant in the queue.
func (r recipesRevocable) Holder(ctx context.Context, name string) (histories.Token, string, error) {
	queue, err := r.mutex(name).Participants(ctx)
	if err != nil {
		return histories.Token{}, "", err
	}
	if len(queue) == 0 {
		return histories.Token{}, "", lock.ErrNotHeld
	}
	return histories.Token(queue[0].Token), queue[0].Node, nil
}

func (r recipesRevocable) Revoke(ctx context.Context, node string) error {
	return r.client.Revoke(ctx, node)
}

// requests passes the requests that a lock was told of on to the holder, once it listens.
type requests struct {
	mu   sync.Mutex
	n    int // before that
	hear func()
}

func (r *requests) add(*recipes.Lease) {
	r.mu.Lock()
	hear := r.hear
	if hear == nil {
		r.n++
	}
	r.mu.Unlock()
	if hear != nil {
		hear()
	}
}

func (r *requests) listen(hear func()) {
	r.mu.Lock()
	n := r.n
	r.hear = hear
	r.mu.Unlock()
	for range n {
		hear()
	}
}

// recipesRevocableLease is a lease whose lock listens to requests from its acquire on, or, without
// requests, its holder from OnRevoke on.
type recipesRevocableLease struct {
	*recipesLease
	*requests
}

func wrapRevocable(l lock.Lease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	return recipesRevocableLease{l.(*recipesLease), nil}, nil
}

// OnRevoke passes on what the lock was told, or adds a listener, which must hear of earlier requests too.
// It also adds one and removes it, which must not be called from then on.
func (l recipesRevocableLease) OnRevoke(f func()) {
	if l.requests != nil && l.Token().Zxid%2 == 0 {
		l.listen(f)
		return
	}
	var removed atomic.Bool
	stop := l.Lease.OnRevoke(func(*recipes.Lease) {
		if removed.Load() {
			f()
		}
	})
	l.Lease.OnRevoke(func(*recipes.Lease) { f() })
	stop()
	removed.Store(true)
}
