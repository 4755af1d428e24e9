package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// compareServers asks every server by itself for the ephemeral nodes of the
// run, and says where they differ. They must not: nothing changes any more,
// and each was told to catch up with the leader. A server that differs has lost
// or kept what the others have not. ZOOKEEPER-4712 is one way: an acknowledged
// write of an isolated leader is lost in the election. ZOOKEEPER-4394 is
// another: a follower fails while it catches up, catches up once more, writes
// the same transactions to its log a second time, and carries them out twice when it
// is started again. No lock can be right on such an ensemble, so it must be known
// before one is blamed.
func (r *run) compareServers(ctx context.Context) (differences []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleNodes)
	defer cancel()
	observers := make(map[ensemble.Server]*observer)
	var unreached []error
	for _, s := range r.cfg.Ensemble.Servers() {
		o, err := newObserver(ctx, []string{s.Addr}, r.cfg.Auth)
		if err != nil {
			unreached = append(unreached, fmt.Errorf("server %d: %w", s.ID, err))
			continue
		}
		defer o.close()
		observers[s] = o
	}
	settled(ctx, time.Second, func() (left int) {
		views := make(map[int]map[string]bool) // server, path
		var errs []error
		for s, o := range observers {
			nodes, err := o.owned(ctx, s, r.observer.root)
			if err != nil {
				errs = append(errs, fmt.Errorf("server %d: %w", s.ID, err))
				continue
			}
			views[s.ID] = make(map[string]bool)
			for _, n := range nodes {
				views[s.ID][n] = true
			}
		}
		differences, err = differ(views), errors.Join(errs...)
		return len(differences) + len(errs)
	})
	return differences, errors.Join(append(unreached, err)...)
}

// owned lists the ephemeral nodes below root that a server knows of: those of its
// tree, and those that it says its sessions own, where it may be asked. A node
// whose parent is gone is only among these.
func (o *observer) owned(ctx context.Context, s ensemble.Server, root string) ([]string, error) {
	nodes, err := o.ephemerals(root)
	if err != nil {
		return nil, err
	}
	text, err := ensemble.Four(ctx, s.Addr, "dump")
	if err != nil {
		return nil, err
	}
	return append(nodes, dumpedPaths(text, root)...), nil
}

// dumpedPaths reads dump: an indented line for each node of a session.
func dumpedPaths(dump, root string) (paths []string) {
	for line := range strings.Lines(dump) {
		if node := strings.TrimSpace(line); node != line && strings.HasPrefix(node, root+"/") {
			paths = append(paths, node)
		}
	}
	return paths
}

// differ names every path that not all views have.
func differ(views map[int]map[string]bool) (out []string) {
	all := make(map[string][]string) // path, servers that have it
	for _, id := range slices.Sorted(maps.Keys(views)) {
		for path := range views[id] {
			all[path] = append(all[path], fmt.Sprint(id))
		}
	}
	for _, path := range slices.Sorted(maps.Keys(all)) {
		if have := all[path]; len(have) < len(views) {
			out = append(out, fmt.Sprintf("only %d of %d servers (%s) have %s", len(have), len(views), strings.Join(have, ", "), path))
		}
	}
	return out
}
