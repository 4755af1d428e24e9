package targets

import (
	"context"
	"errors"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var _ lock.ElectionLocker = (*recipesClient)(nil)

func (c *recipesClient) Election() lock.Elector {
	return recipesElection{queued(func(name string) candidate {
		return candidate{recipes.NewElection(c.client, c.path(name))}
	})}
}

// recipesElection is the recipes' election, which refuses a Reenter.
type recipesElection struct{ recipesQueued[candidate] }

// candidate acquires a lock by a campaign.
type candidate struct{ *recipes.Election }

func (c candidate) Acquire(ctx context.Context) (*recipes.Lease, error)    { return c.Campaign(ctx) }
func (c candidate) TryAcquire(ctx context.Context) (*recipes.Lease, error) { return c.TryCampaign(ctx) }

func (e recipesElection) Observe(ctx context.Context, name string, f func(histories.Token) bool) error {
	for leader, err := range e.recipesLocker(name).Observe(ctx) {
		if err != nil {
			return err
		}
		if !f(histories.Token(leader.Token)) {
			break
		}
	}
	return nil
}

func (e recipesElection) Leader(ctx context.Context, name string) (histories.Token, error) {
	leader, err := e.recipesLocker(name).Leader(ctx)
	if errors.Is(err, recipes.ErrNoLeader) {
		return histories.Token{}, nil
	}
	return histories.Token(leader.Token), err
}
