package inspect

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// Snapshot holds all locks below some paths. Each is in the state of one time during the
// reading.
type Snapshot struct {
	At    time.Time // when the reading began
	Took  time.Duration
	Locks []Lock // by path
	// Unreadable lists the nodes that could not be read because of their permissions.
	Unreadable []Unreadable
	Empty      []Empty // by path
}

// Unreadable is a node that could not be read, and why.
type Unreadable struct {
	Path string
	Err  error
}

// Find reads all locks at these paths and below them. A node whose permissions refuse the
// read is left out and reported as unreadable. A node that comes or goes during the walk
// may be left out, too.
//
// Errors: zk.ErrNoNode, when one of the paths does not exist; [recipes.ErrBadPath]; errors
// of the connection; the context's cause.
func Find(ctx context.Context, src Source, paths []string, options ...Option) (*Snapshot, error) {
	w := &walk{reader: newReader(ctx, src, options), at: time.Now()}
	w.changed.L = &w.mu
	for _, p := range paths {
		if err := checkPath(p); err != nil {
			return nil, err
		}
	}
	for _, p := range withoutNested(paths) {
		w.todo = append(w.todo, step{path: p, named: true})
	}
	var workers sync.WaitGroup
	for range cap(w.slots) {
		workers.Go(w.work)
	}
	workers.Wait()
	if w.err != nil {
		return nil, w.err
	}
	slices.SortFunc(w.found, func(a, b Lock) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(w.unreadable, func(a, b Unreadable) int { return cmp.Compare(a.Path, b.Path) })
	slices.SortFunc(w.empty, func(a, b Empty) int { return cmp.Compare(a.Path, b.Path) })
	return &Snapshot{At: w.at, Took: time.Since(w.at), Locks: w.found, Unreadable: w.unreadable, Empty: w.empty}, nil
}

// withoutNested leaves out paths that are below others.
func withoutNested(paths []string) (roots []string) {
	for _, p := range slices.Compact(slices.Sorted(slices.Values(paths))) {
		if !slices.ContainsFunc(roots, func(root string) bool { return strings.HasPrefix(p, join(root, "")) }) {
			roots = append(roots, p)
		}
	}
	return roots
}

// walk visits nodes. Its workers take the next step from a stack, so that the list of nodes
// to visit stays small.
type walk struct {
	*reader
	at time.Time

	mu         sync.Mutex // guards the fields below
	changed    sync.Cond
	todo       []step
	busy       int // workers that may add steps
	found      []Lock
	unreadable []Unreadable
	empty      []Empty
	err        error
}

// step is a node to be visited.
type step struct {
	path  string
	named bool // by the caller
	// waiters is true when the node beside this one has the name of the queue of a kazoo
	// semaphore.
	waiters bool
}

func (w *walk) work() {
	for {
		s, more := w.next()
		if !more {
			return
		}
		found, below, err := w.visit(s)
		w.finish(s, found, below, err)
	}
}

func (w *walk) next() (step, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for len(w.todo) == 0 && w.busy > 0 && w.err == nil {
		w.changed.Wait()
	}
	if len(w.todo) == 0 || w.err != nil {
		return step{}, false
	}
	s := w.todo[len(w.todo)-1]
	w.todo = w.todo[:len(w.todo)-1]
	w.busy++
	return s, true
}

func (w *walk) finish(s step, found *Lock, below []step, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.busy--
	w.changed.Broadcast()
	switch {
	case errors.Is(err, zk.ErrNoNode) && !s.named, errors.Is(err, ErrFree):
	case errors.Is(err, zk.ErrNoAuth):
		w.unreadable = append(w.unreadable, Unreadable{s.path, err})
	case err != nil:
		w.err = cmp.Or(w.err, fmt.Errorf("%s: %w", s.path, err))
	}
	if found != nil && err == nil && !found.free() {
		w.found = append(w.found, *found)
	}
	w.todo = append(w.todo, below...)
}

// visit reads one node, and returns the lock there and the nodes to visit next.
func (w *walk) visit(s step) (found *Lock, below []step, err error) {
	children, stat, err := w.children(s.path)
	if err != nil {
		return nil, nil, err
	}
	if e, is := empty(s.path, children, stat); is {
		w.mu.Lock()
		w.empty = append(w.empty, e)
		w.mu.Unlock()
	}
	found, names, err := w.lock(s.path, children, stat)
	if found == nil && err == nil && s.waiters {
		found, err = w.kazooSemaphore(s.path, children)
	}
	if err != nil {
		return nil, nil, err
	}
	if s.waiters && (found == nil || found.Size == 0) {
		below = append(below, step{path: s.path + kazooSuffix})
	}
	beside := make(map[string]bool)
	for _, name := range names {
		if of, found := strings.CutSuffix(name, kazooSuffix); found {
			beside[of] = true
		}
	}
	if len(beside) > 0 {
		names = slices.DeleteFunc(slices.Clone(names), func(name string) bool {
			of, suffixed := strings.CutSuffix(name, kazooSuffix)
			return suffixed && slices.Contains(names, of)
		})
	}
	for _, name := range names {
		path := join(s.path, name)
		if own, err := w.serversOwn(path); err != nil || own {
			if err != nil {
				return nil, nil, err
			}
			continue
		}
		below = append(below, step{path: path, waiters: beside[name]})
	}
	return found, below, nil
}
