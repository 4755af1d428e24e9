package servers

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/wait"
)

// Compare asks every server by itself for the nodes of the run, and the transaction that last
// wrote each, and returns the differences that stay. There must be none: no client changes anything
// any more, and each server was told to catch up with the leader. The leader may still delete empty
// containers, one after the other, and a server hears of that later than another. A server that differs has lost nodes that
// the others have, or kept nodes that they have not. One cause is ZOOKEEPER-4712: an
// acknowledged write of an isolated leader is lost in the election. ZOOKEEPER-4394 is another:
// a follower fails while it catches up, catches up once more, writes the same transactions to
// its log a second time, and carries them out twice when it is started again. No lock can be
// correct on such an ensemble, so this must be known before a lock is blamed.
func Compare(ctx context.Context, servers []ensemble.Server, auth ensemble.Credentials, root string) (differences []string, err error) {
	ctx, cancel := context.WithTimeout(ctx, compareWithin+time.Second)
	defer cancel()
	observers := make(map[ensemble.Server]*Observer)
	var unreached []error
	for _, s := range servers {
		o, err := NewObserver(ctx, []ensemble.Server{s}, auth)
		if err != nil {
			unreached = append(unreached, fmt.Errorf("server %d: %w", s.ID, err))
			continue
		}
		defer o.Close()
		observers[s] = o
	}
	wait.Until(ctx, compareWithin, func() bool {
		views := make(map[int]view)
		var errs []error
		for s, o := range observers {
			view, err := viewOf(ctx, o, s, root)
			if err != nil {
				errs = append(errs, fmt.Errorf("server %d: %w", s.ID, err))
				continue
			}
			views[s.ID] = view
		}
		differences, err = differ(views), errors.Join(errs...)
		return len(differences)+len(errs) == 0
	})
	return differences, errors.Join(append(unreached, err)...)
}

// compareWithin bounds the comparison, while there are differences. The leader deletes a level of empty
// containers at a time.
const compareWithin = 5 * time.Second

// view is the tree of one server: for each path the transaction that wrote it last, 0 where
// that is not known.
type view map[string]int64

// viewOf returns the nodes at and below root that a server knows of: those of its tree, and
// those that it lists for its sessions, if it may be asked for them. A node whose parent is
// gone is only in that list.
func viewOf(ctx context.Context, o *Observer, s ensemble.Server, root string) (view, error) {
	nodes, err := o.Nodes(root)
	if err != nil {
		return nil, err
	}
	text, err := ensemble.Four(ctx, s, "dump")
	if err != nil {
		return nil, err
	}
	v := make(view)
	for _, path := range dumpedPaths(text, root) {
		v[path] = 0
	}
	for path, stat := range nodes {
		v[path] = stat.Mzxid
	}
	return v, nil
}

// dumpedPaths reads the output of dump: an indented line for each node of a session.
func dumpedPaths(dump, root string) (paths []string) {
	for line := range strings.Lines(dump) {
		if node := strings.TrimSpace(line); node != line && strings.HasPrefix(node, root+"/") {
			paths = append(paths, node)
		}
	}
	return paths
}

// differ names every path that not all servers have, or not in the same state.
func differ(views map[int]view) (out []string) {
	servers := slices.Sorted(maps.Keys(views))
	paths := make(map[string]bool)
	for _, v := range views {
		for path := range v {
			paths[path] = true
		}
	}
	for _, path := range slices.Sorted(maps.Keys(paths)) {
		var have, as []string
		states := make(map[int64]bool)
		for _, id := range servers {
			if state, ok := views[id][path]; ok {
				states[state] = true
				have, as = append(have, fmt.Sprint(id)), append(as, fmt.Sprintf("server %d of 0x%x", id, state))
			}
		}
		switch {
		case len(have) < len(servers):
			out = append(out, fmt.Sprintf("only %d of %d servers (%s) have %s", len(have), len(servers), strings.Join(have, ", "), path))
		case len(states) > 1:
			out = append(out, fmt.Sprintf("the servers have %s of different transactions: %s", path, strings.Join(as, ", ")))
		}
	}
	return out
}
