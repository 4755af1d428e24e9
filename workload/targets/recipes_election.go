package targets

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.ElectionLocker = (*recipesClient)(nil)

func (c *recipesClient) Election() lock.Elector { return recipesElection{c} }

type recipesElection struct{ c *recipesClient }

func (e recipesElection) election(name string) *recipes.Election {
	return recipes.NewElection(e.c.client, e.c.path(name))
}

func (e recipesElection) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(e.election(name).Campaign(named(ctx, recipes.WithOwner)))
}

func (e recipesElection) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapLease(e.election(name).TryCampaign(named(ctx, recipes.WithOwner)))
}

func (e recipesElection) Held(name string) bool { return e.election(name).Held() }

func (e recipesElection) Participants(ctx context.Context, name string) ([]histories.Participant, error) {
	return recipesQueue(e.election(name).Participants(ctx))
}

// Reenter must fail.
func (e recipesElection) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	inner, end := lock.Owned(ctx, held.(*recipesLease).Context())
	defer end()
	return wrapLease(e.election(name).Campaign(inner))
}

func (e recipesElection) Observe(ctx context.Context, name string, f func(histories.Token) bool) error {
	for leader, err := range e.election(name).Observe(ctx) {
		if err != nil {
			return err
		}
		if !f(histories.Token(leader.Token)) {
			break
		}
	}
	return nil
}
