package faults

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// upgradeKind restarts all servers as another version of ZooKeeper, on the same data, one
// after the other and the leader last, as an operator does. They run that version for the
// length of the fault, and go back in the same way. The ensemble is mixed twice: an old
// leader has new followers, and later a new leader has old followers.
func upgradeKind() fault.Kind {
	return fault.Kind{
		Name: "rolling-upgrade", Description: "all servers are restarted as another version of ZooKeeper, the leader last, and later back", Needs: fault.NeedsUpgrade, Weight: 1,
		Span: fault.Timeouts(1, 2),
		Make: makeUpgrade,
	}
}

func makeUpgrade(s fault.Scene) (fault.Fault, error) {
	if err := s.ServersFree(); err != nil {
		return fault.Fault{}, err
	}
	versions, ok := s.Ensemble().(ensemble.Upgradable)
	if !ok {
		return fault.Fault{}, fmt.Errorf("fault rolling-upgrade needs %s, which this ensemble (%s) does not give", fault.NeedsUpgrade, s.Ensemble().Kind())
	}
	ids := append(s.Others(s.Leader), s.Leader)
	f, err := s.OnServers(fault.Fault{Name: "rolling-upgrade"}, ids, func(ctx context.Context, p fault.Servers) error {
		return roll(ctx, p, ids, versions.Upgraded, versions.Upgrade)
	})
	if err != nil {
		return f, err
	}
	f.Params = map[string]string{"from": s.Ensemble().Version(), "to": versions.OtherVersion()}
	f.HealWithin *= time.Duration(len(ids)) // one after the other
	serve := f.Stop
	f.Stop = func(ctx context.Context) error {
		// OnServers has checked that the ensemble has processes.
		p := fault.Servers{Processes: s.Ensemble().(ensemble.Processes), Ensemble: s.Ensemble()}
		back := roll(ctx, p, ids, func(id int) bool { return !versions.Upgraded(id) }, versions.Downgrade)
		return errors.Join(back, serve(ctx))
	}
	return f, nil
}

// roll restarts the servers that are not done yet, one after the other: servers whose
// process has ended first, and the leader last.
func roll(ctx context.Context, p fault.Servers, ids []int, done func(id int) bool, restart func(context.Context, int) error) error {
	for {
		left := slices.DeleteFunc(slices.Clone(ids), done)
		if len(left) == 0 {
			return nil
		}
		next := left[0]
		// An election may have made another server the leader since the last one.
		if leader, err := p.Leader(ctx); err == nil && next == leader && len(left) > 1 {
			next = left[1]
		}
		if i := slices.IndexFunc(left, func(id int) bool { return !p.Running(id) }); i >= 0 {
			next = left[i]
		}
		if err := restart(ctx, next); err != nil {
			return err
		}
	}
}
