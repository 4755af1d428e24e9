package main

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
	"golang.org/x/sync/errgroup"
)

// floorPeer is no lock. It makes the requests without which no lock of nodes can work: each
// contender's node is created, and the nodes are deleted one after the other. In one
// session all creates of a round are sent at once, and each delete waits for the answer to
// the one before. With several sessions each creates its next node as soon as it has
// deleted the last, and the turn to delete goes round among them, in this process, as soon
// as a delete is answered.
type floorPeer struct {
	conns map[string]*zk.Conn // by server and number of the session
}

func newFloor() *floorPeer { return &floorPeer{conns: map[string]*zk.Conn{}} }

func (f *floorPeer) run(ctx context.Context, w work) (result, error) {
	if w.kind != mutex || w.sessions != 1 && w.sessions != w.contenders {
		return result{}, errors.New("the floor is that of a mutex, in one session or one for each contender")
	}
	conns := make([]*zk.Conn, w.sessions)
	for i := range conns {
		key := fmt.Sprint(w.server(i), " ", i)
		if f.conns[key] == nil {
			conn, err := connectZK(ctx, w.server(i))
			if err != nil {
				return result{}, err
			}
			f.conns[key] = conn
		}
		conns[i] = f.conns[key]
		if err := floorCycle(ctx, conns[i], work{path: w.path, contenders: 1}); err != nil {
			return result{}, err // one cycle before the clock starts, as for every peer
		}
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	if err := floorRun(ctx, conns, w); err != nil {
		return result{}, err
	}
	elapsed := time.Since(begin)
	runtime.ReadMemStats(&after)
	return result{elapsed: elapsed, mallocs: after.Mallocs - before.Mallocs}, nil
}

func floorRun(ctx context.Context, conns []*zk.Conn, w work) error {
	if len(conns) > 1 {
		return floorRing(ctx, conns, w)
	}
	for range w.cycles {
		if err := floorCycle(ctx, conns[0], w); err != nil {
			return err
		}
	}
	return nil
}

// floorRing makes the sessions take turns.
func floorRing(ctx context.Context, conns []*zk.Conn, w work) error {
	turns := make([]chan struct{}, len(conns))
	for i := range turns {
		turns[i] = make(chan struct{}, 1)
	}
	turns[0] <- struct{}{}
	g, ctx := errgroup.WithContext(ctx)
	for i, conn := range conns {
		g.Go(func() error {
			for range w.cycles {
				node, err := conn.Create(w.path+"/lock-", nil, zk.FlagEphemeralSequential, openACL)
				if err != nil {
					return err
				}
				select {
				case <-turns[i]:
				case <-ctx.Done():
					return context.Cause(ctx)
				}
				if err := conn.Delete(node, -1); err != nil {
					return err
				}
				turns[(i+1)%len(turns)] <- struct{}{}
			}
			return nil
		})
	}
	return g.Wait()
}

func floorCycle(ctx context.Context, conn *zk.Conn, w work) error {
	nodes, errs := make([]string, w.contenders), make([]error, w.contenders)
	create := func(i int) {
		nodes[i], errs[i] = conn.Create(w.path+"/lock-", nil, zk.FlagEphemeralSequential, openACL)
	}
	if w.contenders == 1 {
		create(0)
	} else {
		var all sync.WaitGroup
		for i := range nodes {
			all.Go(func() { create(i) })
		}
		all.Wait()
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	for _, node := range nodes {
		if err := conn.Delete(node, -1); err != nil {
			return err
		}
	}
	return ctx.Err()
}

func (f *floorPeer) park(context.Context, work) error { return errors.New("the floor has no waiters") }
func (f *floorPeer) unpark(context.Context) error     { return nil }

func (f *floorPeer) disconnect(context.Context) error {
	for _, conn := range f.conns {
		conn.Close()
	}
	clear(f.conns)
	return nil
}

func (f *floorPeer) close() { _ = f.disconnect(context.Background()) } // never fails
