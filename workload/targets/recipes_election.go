package targets

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/fnv"
	"path"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.LeaderElector     = recipesElection{}
	_ lock.AnnouncingElector = recipesElection{}
	_ lock.RevokerLocker     = recipesElection{}
)

func (c *recipesClient) Election() lock.Elector {
	return recipesElection{queued(func(name string) candidate { return candidate{c, name} }), c}
}

// recipesElection is the recipes' election, which refuses a Reenter.
type recipesElection struct {
	recipesQueued[candidate]
	c *recipesClient
}

// candidate acquires a lock by a campaign, and announces its owner.
type candidate struct {
	c    *recipesClient
	name string
}

func (c candidate) election(ctx context.Context) *recipes.Election {
	options := []recipes.LockOption{recipes.WithData([]byte(lock.OwnerOf(ctx)))}
	if c.c.env.Choices.Selector {
		options = append(options, recipes.WithLeaderSelector())
	}
	return recipes.NewElection(c.c.client, c.c.path(c.name), options...)
}

func (c candidate) Acquire(ctx context.Context) (*recipes.Lease, error) {
	if c.c.env.Choices.Do {
		return begin(ctx, c.election(ctx).Run)
	}
	return c.election(ctx).Campaign(ctx)
}

func (c candidate) TryAcquire(ctx context.Context) (*recipes.Lease, error) {
	return c.election(ctx).TryCampaign(ctx)
}

func (c candidate) Held() bool { return c.election(context.Background()).Held() }

func (c candidate) Participants(ctx context.Context) ([]recipes.Participant, error) {
	return c.election(ctx).Participants(ctx)
}

func (e recipesElection) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapRevocable(e.recipesQueued.Acquire(ctx, name))
}

func (e recipesElection) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return wrapRevocable(e.recipesQueued.TryAcquire(ctx, name))
}

func (e recipesElection) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	return wrapRevocable(e.recipesQueued.Reenter(ctx, name, held.(recipesRevocableLease).recipesLease))
}

func (e recipesElection) Observe(ctx context.Context, name string, f func(histories.Token) bool) error {
	return e.ObserveAnnounced(ctx, name, func(leader histories.Token, _ string) bool { return f(leader) })
}

func (e recipesElection) ObserveAnnounced(ctx context.Context, name string, f func(histories.Token, string) bool) error {
	var last *recipes.Participant
	for leader, err := range e.recipesLocker(name).election(ctx).Observe(ctx) {
		if err != nil {
			return err
		}
		if last != nil && leader.Token == last.Token && bytes.Equal(leader.Data, last.Data) {
			return fmt.Errorf("leader %v was shown again", leader.Token)
		}
		if last != nil && leader.Token == last.Token && leader.Data == nil {
			return fmt.Errorf("a request to resign has hidden the data of leader %v, which were known", leader.Token)
		}
		last = &leader
		owner := string(leader.Data)
		if leader.Data == nil && leader.Node != "" && (e.c.env.Choices.Selector || e.asksAsCurator(name)) {
			owner = lock.HiddenOwner
		}
		if !f(histories.Token(leader.Token), owner) {
			break
		}
	}
	return nil
}

func (e recipesElection) Leader(ctx context.Context, name string) (histories.Token, error) {
	leader, _, err := e.Holder(ctx, name)
	if errors.Is(err, lock.ErrNotHeld) {
		return histories.Token{}, nil
	}
	return leader, err
}

func (e recipesElection) Holder(ctx context.Context, name string) (histories.Token, string, error) {
	leader, err := e.recipesLocker(name).election(ctx).Leader(ctx)
	if errors.Is(err, recipes.ErrNoLeader) {
		return histories.Token{}, "", lock.ErrNotHeld
	}
	return histories.Token(leader.Token), leader.Node, err
}

// asksAsCurator reports whether leaders of an election are asked to resign as Curator's Revoker asks the
// holder of a mutex, which hides what they announce until they restore it: half of the elections, for all
// clients of a run the same.
func (e recipesElection) asksAsCurator(name string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(path.Join(e.c.env.Root, name)))
	return h.Sum32()>>16%2 == 0
}

// Revoke asks the leader to resign.
func (e recipesElection) Revoke(ctx context.Context, node string) error {
	conn := e.c.client.Conn()
	if conn == nil || conn.State() != zk.StateHasSession || e.c.env.Choices.Selector || !e.asksAsCurator(path.Base(path.Dir(node))) {
		return recipesRevocable{e.c}.Revoke(ctx, node)
	}
	asked := make(chan error, 1)
	go func() { // ends with the answer or the connection
		_, err := conn.Set(node, []byte("__REVOKE__"), -1)
		asked <- err
	}()
	select {
	case err := <-asked:
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
