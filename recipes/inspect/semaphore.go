package inspect

import (
	"errors"
	"slices"
	"strconv"

	"github.com/go-zookeeper/zk"
)

// Below a semaphore of recipes and Curator there is a queue of waiters, and a node
// for each permit that is out. Kazoo's has its permits below itself, and its queue beside itself.
const (
	locksName   = "locks"
	leasesName  = "leases"
	kazooSuffix = "-__lock__"
)

// hasSemaphore reports whether the children include a semaphore's permits. The queue may be
// missing: it is a container, which the servers remove when it is empty.
func hasSemaphore(children []string) bool { return slices.Contains(children, leasesName) }

func isSemaphorePart(child string) bool { return child == locksName || child == leasesName }

// semaphore reads a node that has a child "leases". It returns nil if the node is no
// semaphore, for example a folder of locks.
func (r *reader) semaphore(lock string) (*Lock, error) {
	return r.twoQueues(lock, join(lock, leasesName), join(lock, locksName), func(leases, locks []string) (permits []place, ok bool) {
		permits, others := contenders(leases)
		waiters, others2 := contenders(locks)
		if len(permits) == 0 && len(others) > 0 || len(waiters) == 0 && len(others2) > 0 {
			return nil, false
		}
		ok = len(permits) == 0 || permits[0].kind == KindPermit
		return permits, ok && (len(waiters) == 0 || waiters[0].kind == KindLock)
	})
}

// kazooSemaphore reads a node as a semaphore of kazoo, whose size is the node's data. It
// returns nil if the node is none.
func (r *reader) kazooSemaphore(lock string, children []string) (*Lock, error) {
	if slices.ContainsFunc(children, func(c string) bool { return len(c) != hexDigits || !isHex(c) }) {
		return nil, nil
	}
	data, _, err := r.get(lock)
	if errors.Is(err, zk.ErrNoAuth) {
		return nil, nil // the node's children can be listed, so it exists
	}
	if err != nil {
		return nil, err
	}
	size, err := strconv.Atoi(string(data))
	if err != nil || size < 1 {
		return nil, nil
	}
	l, err := r.twoQueues(lock, lock, lock+kazooSuffix, func(leases, locks []string) (permits []place, ok bool) {
		for _, child := range leases {
			p := place{kind: KindPermit, library: LibraryKazoo}
			p.Node, p.Kind = child, "lease-"
			permits = append(permits, p)
		}
		return permits, true
	})
	if l == nil || err != nil {
		return nil, err
	}
	l.Size = size
	return l, nil
}

// twoQueues reads a semaphore from the node with its permits and the node with its queue.
// An acquire leaves the queue as it takes its permits. So twoQueues reads the queue between
// two lists of the permits, and repeats until they are the same.
func (r *reader) twoQueues(lock, leases, locks string, parse func(leases, locks []string) ([]place, bool)) (*Lock, error) {
	seen := make(map[string]Contender)
	for try := 1; ; try++ {
		names, before, err := r.children(leases)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
		queued, _, err := r.children(locks)
		if err != nil && !errors.Is(err, zk.ErrNoNode) {
			return nil, err
		}
		permits, ok := parse(names, queued)
		if !ok {
			return nil, nil
		}
		waiters, others := contenders(queued)
		l := &Lock{Path: lock, Recipe: Semaphore, grants: countOf(before)}
		for _, child := range names {
			if !slices.ContainsFunc(permits, func(p place) bool { return p.Node == child }) {
				l.Foreign = append(l.Foreign, join(leases, child))
			}
		}
		l.Foreign = append(l.Foreign, under(locks, others)...)
		gone, err := r.fill(l, leases, permits, seen)
		if err != nil {
			return nil, err
		}
		out := len(l.Queue)
		gone2, err := r.fill(l, locks, waiters, seen)
		if err != nil {
			return nil, err
		}
		for i := range l.Queue[out:] {
			l.Queue[out+i].Holds = false // the first contender of this queue is the next to get permits
		}
		changed, err := r.changed(leases, before)
		if err != nil {
			return nil, err
		}
		if changed = changed || gone || gone2; !changed || try == tries {
			l.Changing = changed
			return l, nil
		}
	}
}

// changed reports whether children of a node have come or gone since it was listed. A nil
// before means that the node did not exist.
func (r *reader) changed(node string, before *zk.Stat) (bool, error) {
	now, err := r.stat(node)
	if errors.Is(err, zk.ErrNoNode) {
		return before != nil && before.Czxid != 0, nil
	}
	if err != nil {
		return false, err
	}
	return before == nil || now.Czxid != before.Czxid || now.Pzxid != before.Pzxid, nil
}
