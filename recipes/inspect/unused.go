package inspect

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"
)

// Empty is a node without data that never had a child, and that no session owns. An acquire
// that was given up may have left it as the parent of its node: the servers remove a
// container only when its last child has gone. They do not tell a container from another
// node, so a node that an operator created looks the same.
type Empty struct {
	Path  string
	Since time.Time // by the leader's wall clock
}

// empty returns a node as an Empty, and whether it is one. The root and the servers' own
// nodes, which no transaction has created, never are.
func empty(path string, children []string, stat *zk.Stat) (e Empty, is bool) {
	is = len(children) == 0 && stat.Cversion == 0 && stat.Version == 0 && stat.DataLength == 0 && stat.EphemeralOwner == 0 &&
		path != "/" && stat.Czxid != 0
	return Empty{path, time.UnixMilli(stat.Ctime)}, is
}

// Unused returns a finding for each node that has been empty for longer than age.
func Unused(all []Empty, now time.Time, age time.Duration) (found []Finding) {
	for _, e := range all {
		if old := now.Sub(e.Since); old > age {
			found = append(found, Finding{Problem: UnusedParent, Locks: []string{e.Path}, Nodes: []string{e.Path}, Age: old})
		}
	}
	return found
}

// StillEmpty returns the node at path if it is empty.
func StillEmpty(src Source, path string) (e Empty, is bool, err error) {
	children, stat, err := src.Children(path)
	if errors.Is(err, zk.ErrNoNode) {
		return e, false, nil
	}
	if err != nil {
		return e, false, err
	}
	e, is = empty(path, children, stat)
	return e, is, nil
}

// RemoveUnused deletes a node that was found to be unused. It reports false if the node has
// been used since. Clients that are about to use it create it again.
func RemoveUnused(ctx context.Context, conn Writer, path string) (removed bool, err error) {
	if ctx.Err() != nil {
		return false, context.Cause(ctx)
	}
	if _, is, err := StillEmpty(conn, path); err != nil || !is {
		return false, err
	}
	_, err = conn.Multi(&zk.DeleteRequest{Path: path, Version: 0})
	switch {
	case errors.Is(err, zk.ErrNoNode), errors.Is(err, zk.ErrNotEmpty), errors.Is(err, zk.ErrBadVersion):
		return false, nil
	case err != nil:
		return false, fmt.Errorf("%s: %w", path, err)
	}
	return true, nil
}
