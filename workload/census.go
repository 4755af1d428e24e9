package workload

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/mutants"
)

// Deletes and watch removals are asynchronous, and so is the end of
// goroutines: the census looks again until nothing is left, but not for ever.
const (
	settleEvery = 50 * time.Millisecond
	settleNodes = 2 * time.Second
	settleStops = 2 * time.Second
)

// settled repeats look until it finds nothing or the time is over.
func settled(ctx context.Context, within time.Duration, look func() (left int)) {
	until := time.Now().Add(within)
	for look() > 0 && time.Now().Before(until) && ctx.Err() == nil {
		pause(ctx, settleEvery, nil)
	}
}

// countNodes counts what the servers still have: contender nodes and watches
// under the locks. The clients are idle, but connected.
func (r *run) countNodes(ctx context.Context, c *histories.Census) (err error) {
	root := r.lockRoot()
	settled(ctx, settleNodes, func() int {
		var nodesErr, watchesErr error
		c.Contenders, nodesErr = r.observer.ephemerals(root)
		c.Watched, watchesErr = r.watched(ctx, root)
		c.Watches = len(c.Watched)
		err = errors.Join(nodesErr, watchesErr)
		if err != nil {
			return 1 // look again
		}
		return len(c.Contenders) + c.Watches
	})
	return err
}

// ephemerals lists the ephemeral nodes at and below p: a lock's node is one, whatever
// the lock.
func (o *observer) ephemerals(p string) ([]string, error) {
	nodes, err := o.nodes(p)
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(nodes, func(_ string, stat *zk.Stat) bool { return stat.EphemeralOwner == 0 })
	return slices.Sorted(maps.Keys(nodes)), nil
}

// nodes returns what there is at and below p.
func (o *observer) nodes(p string) (map[string]*zk.Stat, error) {
	if _, err := o.conn.Sync(p); err != nil {
		return nil, err
	}
	out := make(map[string]*zk.Stat)
	var walk func(string) error
	walk = func(p string) error {
		children, stat, err := o.conn.Children(p)
		if errors.Is(err, zk.ErrNoNode) {
			return nil
		}
		if err != nil {
			return err
		}
		out[p] = stat
		for _, child := range children {
			if err := walk(path.Join(p, child)); err != nil {
				return err
			}
		}
		return nil
	}
	if err := walk(p); err != nil {
		return nil, err
	}
	return out, nil
}

// watched lists the paths under root that the servers keep a watch on, once for
// each session that does.
func (r *run) watched(ctx context.Context, root string) (paths []string, err error) {
	for _, s := range r.cfg.Ensemble.Servers() {
		text, err := ensemble.Four(ctx, s.Addr, "wchp")
		if err != nil {
			return nil, err
		}
		if strings.Contains(text, "not in the whitelist") {
			return nil, fmt.Errorf("%s does not allow wchp", s.Addr)
		}
		paths = append(paths, watchedPaths(text, root)...)
	}
	slices.Sort(paths)
	return paths, nil
}

// watchedPaths reads wchp: a line for each path, and below it an indented line
// for each session that watches it.
func watchedPaths(wchp, root string) (paths []string) {
	path := ""
	for line := range strings.Lines(wchp) {
		line = strings.TrimRight(line, "\r\n")
		switch {
		case strings.HasPrefix(line, "/"):
			path = ""
			if line == root || strings.HasPrefix(line, root+"/") {
				path = line
			}
		case path != "" && strings.TrimSpace(line) != "":
			paths = append(paths, path)
		}
	}
	return paths
}

// stacks returns the goroutines of this process by their ID line's number.
func stacks() map[string]string {
	buf := make([]byte, 1<<20)
	for {
		n := runtime.Stack(buf, true)
		if n < len(buf) {
			buf = buf[:n]
			break
		}
		buf = make([]byte, 2*len(buf))
	}
	out := make(map[string]string)
	for stack := range strings.SplitSeq(string(buf), "\n\n") {
		if id, _, ok := strings.Cut(strings.TrimPrefix(stack, "goroutine "), " "); ok {
			out[id] = stack
		}
	}
	return out
}

// countGoroutines lists the goroutines that run the target's code and did not
// exist before the run. Its clients are closed.
func (r *run) countGoroutines(ctx context.Context, c *histories.Census) {
	c.Goroutines = append(leftRunning(ctx, r.before, []lock.Target{r.cfg.Target}), r.stacks...)
}

// countKept counts the goroutines of idle clients that are still open, against those
// that as many had when they were opened.
func (r *run) countKept(ctx context.Context, c *histories.Census) {
	open := 0
	for _, h := range r.households() {
		if target, _ := h.current(); target != nil {
			open++
		}
	}
	if r.workers != nil || open == 0 || open != len(r.households()) {
		return
	}
	c.Clients = open
	settled(ctx, settleStops, func() int {
		c.Kept = max(0, len(running(r.before, []lock.Target{r.cfg.Target}))-r.idle)
		return c.Kept - open
	})
}

// leftRunning lists the goroutines that run the code of targets and were not
// there before, when they have had time to end.
func leftRunning(ctx context.Context, before map[string]string, targets []lock.Target) (left []string) {
	settled(ctx, settleStops, func() int {
		left = running(before, targets)
		return len(left)
	})
	slices.Sort(left)
	return left
}

// running lists the goroutines that run the code of targets and were not there
// before.
func running(before map[string]string, targets []lock.Target) (found []string) {
	packages := []string{pkg(reflect.TypeFor[zk.Conn]()) + "."}
	for _, ours := range []reflect.Type{reflect.TypeFor[recipes.Client](), reflect.TypeFor[mutants.Client]()} {
		packages = append(packages, pkg(ours)+".", pkg(ours)+"/") // and the packages below
	}
	for _, t := range targets {
		if p := pkg(reflect.TypeOf(t)); p != pkg(reflect.TypeFor[run]()) {
			packages = append(packages, p+".")
		}
	}
	for id, stack := range stacks() {
		if _, old := before[id]; !old && slices.ContainsFunc(packages, func(p string) bool { return strings.Contains(stack, p) }) {
			found = append(found, stack)
		}
	}
	return found
}

// pkg returns the path of a type's package, which the names of its functions begin
// with in a stack.
func pkg(t reflect.Type) string {
	if t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t.PkgPath()
}
