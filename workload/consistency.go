package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
)

// compareServers asks every server by itself for the ephemeral nodes of the
// run, and says where they differ. They must not: nothing changes any more,
// and each was told to catch up with the leader. A server that differs has lost
// or kept what the others have not (ZOOKEEPER-4712 is one way: an acknowledged
// write of an isolated leader is lost in the election). No lock can be right on
// such an ensemble, so it must be known before one is blamed.
func (r *run) compareServers(ctx context.Context) (differences []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, settleNodes)
	defer cancel()
	views := make(map[int]map[string]bool) // server, path
	var errs []error
	for _, s := range r.cfg.Ensemble.Servers() {
		o, err := newObserver(ctx, []string{s.Addr}, r.cfg.Auth)
		if err != nil {
			errs = append(errs, fmt.Errorf("server %d: %w", s.ID, err))
			continue
		}
		defer o.close()
		look := func() int {
			nodes, lookErr := o.ephemerals(r.observer.root)
			if err = lookErr; err != nil {
				return 1
			}
			views[s.ID] = make(map[string]bool)
			for _, n := range nodes {
				views[s.ID][n] = true
			}
			return 0
		}
		settled(ctx, time.Second, look)
		if err != nil {
			errs = append(errs, fmt.Errorf("server %d: %w", s.ID, err))
		}
	}
	return differ(views), errors.Join(errs...)
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
