package inspect

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"
)

// readyName is the name of the node that begins a round of a double barrier.
const readyName = "ready"

// members reads a node whose children are named by UUIDs: a double barrier, or a semaphore
// of kazoo's. It returns nil if the node is neither, such as a folder with a child for each
// user.
func (r *reader) members(lock string, children []string) (*Lock, error) {
	if l, err := r.kazooSemaphore(lock, children); l != nil || err != nil {
		return l, err
	}
	seen := make(map[string]Contender)
	for try := 1; ; try++ {
		l, gone, err := r.barrier(lock, children, seen)
		if l == nil || err != nil {
			return nil, err
		}
		if !gone || try == tries {
			l.Changing = gone
			return l, nil
		}
		if children, _, err = r.children(lock); err != nil {
			return nil, err
		}
	}
}

// barrier reads the children of a double barrier once.
func (r *reader) barrier(lock string, children []string, seen map[string]Contender) (l *Lock, gone bool, err error) {
	l = &Lock{Path: lock, Recipe: DoubleBarrier}
	var names []string
	ready := false
	for _, child := range children {
		switch {
		case child == readyName:
			ready = true
		case isMember(child):
			names = append(names, child)
		default:
			l.Foreign = append(l.Foreign, join(lock, child))
		}
	}
	slices.Sort(l.Foreign)
	slices.Sort(names)
	if ready {
		if l.Round, gone, err = r.round(lock); err != nil {
			return nil, false, err
		}
	}
	if len(names) == 0 && (l.Round == nil || len(l.Foreign) > 0) {
		return nil, false, nil // a folder with a child that is named "ready"
	}
	for i, name := range names {
		c, known := seen[name]
		if !known {
			err := r.contender(&c, join(lock, name))
			if errors.Is(err, zk.ErrNoNode) {
				gone = true
				continue
			}
			if err != nil {
				return nil, false, err
			}
			seen[name] = c
		}
		if c.Session == 0 && !ready && i == 0 {
			return nil, false, nil // members are ephemeral
		}
		c.Path, c.Kind, c.Library = join(lock, name), KindMember, LibraryCurator
		if len(name) == hexDigits {
			c.Library = LibraryKazoo
		}
		c.Holds = l.Round != nil && l.Round.inRound(name, c.Token.Zxid)
		l.Queue = append(l.Queue, c)
	}
	return l, gone, nil
}

// round reads the node "ready". It returns nil if the node is gone, or if it is no ready
// node.
func (r *reader) round(lock string) (round *Round, gone bool, err error) {
	node := join(lock, readyName)
	data, stat, err := r.get(node)
	if errors.Is(err, zk.ErrNoAuth) {
		stat, err = r.stat(node)
	}
	if err != nil {
		if errors.Is(err, zk.ErrNoNode) {
			return nil, true, nil
		}
		return nil, false, err
	}
	round = &Round{Path: node, Since: time.UnixMilli(stat.Ctime), zxid: stat.Czxid}
	for line := range strings.SplitSeq(string(data), "\n") {
		if isMember(line) {
			round.Listed = append(round.Listed, line)
		} else if line != "" {
			return nil, false, nil
		}
	}
	if stat.NumChildren > 0 {
		return nil, false, nil
	}
	return round, false, nil
}
