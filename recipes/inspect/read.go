package inspect

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// tries bounds how often a lock is read again because its nodes came and went during the
// read.
const tries = 5

// Read reads the lock at a path. See [ErrNoLock] for its errors.
func Read(ctx context.Context, src Source, lock string, options ...Option) (*Lock, error) {
	r := newReader(ctx, src, options)
	if err := checkPath(lock); err != nil {
		return nil, err
	}
	children, stat, err := r.children(lock)
	var l *Lock
	if err == nil {
		l, _, err = r.lock(lock, children, stat)
	}
	if err == nil && l != nil && l.free() {
		err = ErrFree
	}
	if err == nil && l == nil {
		// Only Read does this: every node without children may be a semaphore of kazoo's.
		if l, err = r.kazooSemaphore(lock, children); err == nil && l == nil {
			err = ErrNoLock
			if len(children) == 0 {
				err = ErrFree
			}
		}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", lock, err)
	}
	return l, nil
}

func checkPath(lock string) error {
	if lock == "/" {
		return nil
	}
	if err := session.CheckPath(lock); err != nil {
		return fmt.Errorf("%q: %w", lock, err)
	}
	return nil
}

// lock reads the node at a path as a lock, and returns nil if it is none. It also returns
// the children that may have locks below them.
func (r *reader) lock(lock string, children []string, stat *zk.Stat) (l *Lock, below []string, err error) {
	places, others := contenders(children)
	switch {
	case len(places) > 0:
		l, err = r.queue(lock, children, stat)
		return l, others, err
	case len(children) == 0:
		return nil, nil, nil
	}
	if hasSemaphore(children) {
		if l, err = r.semaphore(lock); l != nil || err != nil {
			return l, slices.DeleteFunc(others, isSemaphorePart), err
		}
	}
	if slices.ContainsFunc(children, isMember) || slices.Contains(children, readyName) {
		if l, err = r.members(lock, children); l != nil || err != nil {
			return l, nil, err
		}
	}
	if slices.ContainsFunc(children, isSequential) {
		if l, err = r.unknown(lock, children); l != nil || err != nil {
			return l, nil, err
		}
	}
	return nil, others, nil
}

// queue reads a queue whose children have been listed. It lists them again when some were
// gone before they were read.
func (r *reader) queue(lock string, children []string, stat *zk.Stat) (*Lock, error) {
	seen := make(map[string]Contender) // contenders that were read, by the node's name
	for try := 1; ; try++ {
		places, others := contenders(children)
		if len(places) == 0 {
			return nil, ErrFree // all contenders have left
		}
		l := &Lock{Path: lock, Recipe: recipeOf(places), Foreign: under(lock, others), grants: countOf(stat)}
		gone, err := r.fill(l, lock, places, seen)
		if err != nil {
			return nil, err
		}
		if !gone || try == tries {
			l.Changing = gone
			return l, nil
		}
		if children, stat, err = r.children(lock); err != nil {
			return nil, err
		}
	}
}

// fill adds the contenders of a queue to a lock. It leaves out those whose nodes are gone,
// and reports whether there were any.
func (r *reader) fill(l *Lock, dir string, places []place, seen map[string]Contender) (gone bool, err error) {
	holds := admitted(places)
	all := make([]Contender, len(places))
	wanted := r.wanted(holds)
	err = r.each(len(places), func(i int) error {
		p := places[i]
		c := &all[i]
		if wanted[i] {
			if known, read := seen[p.Node]; read {
				*c = known
			} else if err := r.contender(c, join(dir, p.Node)); err != nil && !errors.Is(err, zk.ErrNoNode) {
				return err
			} else if err != nil {
				return nil // Path stays empty
			}
		}
		c.Path = join(dir, p.Node)
		c.Kind, c.Library, c.Sequence, c.Holds = kindIn(l.Recipe, p), p.library, p.Sequence, holds[i]
		return nil
	})
	if err != nil {
		return false, err
	}
	for i := range all {
		if all[i].Path == "" {
			gone = true
			continue
		}
		if all[i].Read {
			seen[places[i].Node] = all[i]
		}
		l.Queue = append(l.Queue, all[i])
	}
	return gone, nil
}

// wanted reports for each contender whether it is to be read.
func (r *reader) wanted(holds []bool) []bool {
	wanted := slices.Repeat([]bool{!r.brief}, len(holds))
	for _, which := range []bool{true, false} {
		if i := slices.Index(holds, which); i >= 0 {
			wanted[i] = true
		}
	}
	return wanted
}

// contender reads the node of a contender.
func (r *reader) contender(c *Contender, node string) error {
	data, stat, err := r.get(node)
	if errors.Is(err, zk.ErrNoAuth) {
		// Every client may ask whether a node exists, and gets all but its data.
		c.Hidden = true
		stat, err = r.stat(node)
	}
	if err != nil {
		return err
	}
	c.Read = true
	c.Data, c.Size = bytes.Clone(data[:min(len(data), maxData)]), int(stat.DataLength)
	c.Session, c.Token, c.Since = stat.EphemeralOwner, recipes.Token{Zxid: stat.Czxid}, time.UnixMilli(stat.Ctime)
	c.version = stat.Version
	return nil
}

// unknown reads a lock of an unknown recipe: one whose children include ephemeral
// sequential nodes. Work queues have sequential nodes too, but theirs are persistent.
func (r *reader) unknown(lock string, children []string) (*Lock, error) {
	const samples = 4
	sequential := slices.DeleteFunc(slices.Clone(children), func(c string) bool { return !isSequential(c) })
	slices.Sort(sequential)
	l := &Lock{Path: lock, Recipe: Unknown}
	found := false
	for i, child := range sequential {
		if !found && i == samples {
			return nil, nil
		}
		c := Contender{Library: LibraryOther}
		if !r.brief || !found {
			err := r.contender(&c, join(lock, child))
			if errors.Is(err, zk.ErrNoNode) {
				continue
			}
			if err != nil {
				return nil, err
			}
			found = found || c.Session != 0
		}
		c.Path = join(lock, child)
		l.Queue = append(l.Queue, c)
	}
	if !found {
		return nil, nil
	}
	return l, nil
}

// join returns the path of a child.
func join(dir, name string) string { return strings.TrimSuffix(dir, "/") + "/" + name }

// under returns the paths of children.
func under(dir string, names []string) (paths []string) {
	for _, name := range names {
		paths = append(paths, join(dir, name))
	}
	return paths
}

func (r *reader) children(node string) (names []string, stat *zk.Stat, err error) {
	err = r.request(func() (err error) {
		names, stat, err = r.src.Children(node)
		return err
	})
	return names, stat, err
}

func (r *reader) get(node string) (data []byte, stat *zk.Stat, err error) {
	err = r.request(func() (err error) {
		data, stat, err = r.src.Get(node)
		return err
	})
	return data, stat, err
}

func (r *reader) stat(node string) (stat *zk.Stat, err error) {
	err = r.request(func() error {
		there, s, err := r.src.Exists(node)
		if err == nil && !there {
			err = zk.ErrNoNode
		}
		stat = s
		return err
	})
	return stat, err
}
