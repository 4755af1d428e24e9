package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
)

var _ RevocableLocker = (*recipesClient)(nil)

func (c *recipesClient) Revocable() RevokerLocker { return recipesRevocable{c} }

// recipesRevocable is the recipes' mutex with its revocation.
type recipesRevocable struct{ *recipesClient }

func (r recipesRevocable) Acquire(ctx context.Context, lock string) (Lease, error) {
	return wrapRevocable(r.recipesClient.Acquire(ctx, lock))
}

func (r recipesRevocable) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return wrapRevocable(r.recipesClient.TryAcquire(ctx, lock))
}

func (r recipesRevocable) Reenter(ctx context.Context, lock string, held Lease) (Lease, error) {
	return wrapRevocable(r.recipesClient.Reenter(ctx, lock, held.(recipesRevocableLease).recipesLease))
}

// Holder is the first in the queue.
func (r recipesRevocable) Holder(ctx context.Context, lock string) (histories.Token, string, error) {
	queue, err := r.mutex(lock).Participants(ctx)
	if err != nil {
		return histories.Token{}, "", err
	}
	if len(queue) == 0 {
		return histories.Token{}, "", ErrNotHeld
	}
	return histories.Token(queue[0].Token), queue[0].Node, nil
}

func (r recipesRevocable) Revoke(ctx context.Context, node string) error {
	return r.client.Revoke(ctx, node)
}

type recipesRevocableLease struct{ *recipesLease }

func wrapRevocable(l Lease, err error) (Lease, error) {
	if err != nil {
		return nil, err
	}
	return recipesRevocableLease{l.(*recipesLease)}, nil
}

func (l recipesRevocableLease) OnRevoke(f func()) {
	l.Lease.OnRevoke(func(*recipes.Lease) { f() })
}
