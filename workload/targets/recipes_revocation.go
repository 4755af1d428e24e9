package targets

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.RevocableLocker = (*recipesClient)(nil)

func (c *recipesClient) Revocable() lock.RevokerLocker { return recipesRevocable{c} }

// recipesRevocable is the recipes' mutex with revocation.
type recipesRevocable struct{ *recipesClient }

func (r recipesRevocable) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapRevocable(r.recipesClient.Acquire(ctx, name))
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

type recipesRevocableLease struct{ *recipesLease }

func wrapRevocable(l lock.Lease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	return recipesRevocableLease{l.(*recipesLease)}, nil
}

func (l recipesRevocableLease) OnRevoke(f func()) {
	l.Lease.OnRevoke(func(*recipes.Lease) { f() })
}
