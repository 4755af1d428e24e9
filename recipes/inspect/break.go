package inspect

import (
	"context"
	"errors"
	"fmt"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// ErrNotHeld is returned by [Break] when no client holds the lock with that token, either
// no longer or at all.
var ErrNotHeld = errors.New("inspect: no client holds the lock with this token")

// ErrUntouchable is returned by [Break] for a lock whose nodes must not be changed: its
// recipe is unknown, or it is a double barrier, whose members hold nothing that others wait
// for.
var ErrUntouchable = errors.New("inspect: no lock of recipes, Curator, kazoo or go-zookeeper that a client holds")

// Writer is the connection that Break needs. *zk.Conn implements it.
type Writer interface {
	Source
	Multi(ops ...any) ([]zk.MultiResponse, error)
}

// With returns the holders with this token: one, or the permits of one acquire.
func (l *Lock) With(token recipes.Token) (all []*Contender) {
	for _, c := range l.Holders() {
		if c.Token.Zxid == token.Zxid {
			all = append(all, c)
		}
	}
	return all
}

// Break deletes the node of the holder with this token, or the nodes of its permits, all of
// them or none, and returns them. A holder that is alive is not stopped: see docs/locks.md.
//
// The token identifies the node: it is the transaction that created it. A delete cannot
// name a transaction, so it names the path and the data's version that were read together
// with the token, and the servers compare these as they delete. That is the same node:
// another node of that name would have to be created in between, and the names of
// contenders have a random id and a sequence number, which a parent gives only once. Only
// the permits of kazoo's semaphore have one name for each semaphore object: a permit that
// is released and acquired again, by the same object, between the read and the delete would
// be deleted. If the data has changed in between, as by a request to release, Break reads
// the node again.
//
// Errors: [ErrNotHeld]; [ErrUntouchable]; those of [Read]; zk.ErrNoAuth; after a lost
// connection the nodes may have been deleted.
func Break(ctx context.Context, conn Writer, lock string, token recipes.Token) ([]Contender, error) {
	for try := 1; ; try++ {
		l, err := Read(ctx, conn, lock)
		if errors.Is(err, ErrFree) {
			err = fmt.Errorf("%s: %w", lock, ErrNotHeld)
		}
		if err != nil {
			return nil, err
		}
		if l.Recipe == Unknown || l.Recipe == DoubleBarrier {
			return nil, fmt.Errorf("%s: %w", lock, ErrUntouchable)
		}
		var ops []any
		var nodes []Contender
		for _, c := range l.With(token) {
			ops = append(ops, &zk.DeleteRequest{Path: c.Path, Version: c.version})
			nodes = append(nodes, *c)
		}
		if len(ops) == 0 {
			return nil, fmt.Errorf("%s: %w", lock, ErrNotHeld)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		_, err = conn.Multi(ops...)
		changed := errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode)
		if changed && try < tries {
			continue
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", lock, err)
		}
		return nodes, nil
	}
}
