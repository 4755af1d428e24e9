package workload

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"path"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/client"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/internal/servers"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
)

// setUp opens the observer, the links and the clients.
func (r *run) setUp(ctx context.Context) error {
	opening, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	if err := r.prepare(opening, r.cfg.Ensemble.Servers()); err != nil {
		return fmt.Errorf("%w: %w", ErrNoEnsemble, err)
	}
	if r.cfg.Workers.N > 0 {
		var err error
		workers := r.cfg.Workers
		workers.Slack, workers.Hurry = histories.Slack(r.cfg.SessionTimeout), r.Life.Done()
		if r.Workers, err = remote.Start(opening, workers, r.workerFailed); err != nil {
			return err
		}
	}
	var g errgroup.Group
	for _, c := range r.clients {
		g.Go(func() error { return c.Open(opening) })
	}
	if err := g.Wait(); err != nil {
		return cmp.Or(context.Cause(r.Life), err) // a worker's failure is that of all its clients
	}
	for _, c := range r.clients {
		for _, g := range r.drivers.Groups {
			if !lock.Offers(c.Target(), g.Name) {
				return fmt.Errorf("target %s offers %s, but its client has no such methods", r.cfg.Target.Name(), g.Name)
			}
		}
		// Faults, bounds and the history's header depend on the granted timeout.
		granted := c.SessionTimeout()
		if granted == 0 {
			return fmt.Errorf("target %s does not connect through Env.Dial", r.cfg.Target.Name())
		}
		if granted != r.cfg.SessionTimeout {
			return fmt.Errorf("the servers grant sessions of %v, not the %v asked for: ask for what they grant", granted, r.cfg.SessionTimeout)
		}
	}
	r.idle = len(inprocess.GoroutinesOf(r.before, []lock.Target{r.cfg.Target}))
	return nil
}

// prepare opens the observer, creates the nodes that the run needs on the servers, and opens
// the links.
func (r *run) prepare(ctx context.Context, all []ensemble.Server) error {
	o, err := servers.NewObserver(ctx, all, r.cfg.Auth)
	if err != nil {
		return err
	}
	o.Journal, o.Expired = r.Journal, r.sessionExpired
	r.Observer = o
	root, err := o.MakeRoot(r.cfg.Ensemble.Root())
	if err != nil {
		return fmt.Errorf("preparing %s: %w", r.cfg.Ensemble.Root(), err)
	}
	if err := r.putForeign(); err != nil {
		return err
	}
	if err := r.putCounters(); err != nil {
		return fmt.Errorf("preparing the counters in ZooKeeper: %w", err)
	}
	r.name = path.Base(root)
	for i := range r.cfg.Clients {
		r.clients = append(r.clients, client.New(r.Shared, i))
	}
	r.pairUp()
	for _, a := range client.ApplicationsOf(r.clients) {
		if err := a.Link(ctx, r.name, r.cfg.Ensemble.Servers(), r.cfg.Network); err != nil {
			return err
		}
	}
	return nil
}

// putForeign puts the foreign node into each lock's directory.
func (r *run) putForeign() error {
	if r.cfg.Foreign == "" {
		return nil
	}
	for name := range r.Locks {
		dir := path.Join(r.Observer.LockRoot(), name)
		if err := errors.Join(r.Observer.Create(dir), r.Observer.Create(path.Join(dir, r.cfg.Foreign))); err != nil {
			return fmt.Errorf("preparing %s: %w", dir, err)
		}
	}
	return nil
}

// putCounters creates the counters in ZooKeeper that locks guard, for targets that can write to
// them.
func (r *run) putCounters() error {
	if !r.Promises.Guards {
		return nil
	}
	var guarding []string
	for name, l := range r.Locks {
		if l.Recipe.Guards() {
			guarding = append(guarding, r.Observer.GuardedNode(name))
		}
		if l.Recipe.HasPermits() || l.Recipe == histories.ReadWrite {
			guarding = append(guarding, r.Observer.SharedNode(name))
		}
	}
	return r.Observer.PutCounters(guarding)
}
