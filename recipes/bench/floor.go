package main

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"time"

	"github.com/go-zookeeper/zk"
)

// floorPeer is no lock. It does what a lock of nodes cannot do without: each
// contender's node is created, all at once, and they are deleted one after the
// other, since only the holder's release lets the next one in.
type floorPeer struct {
	conns map[string]*zk.Conn
}

func newFloor() *floorPeer { return &floorPeer{conns: map[string]*zk.Conn{}} }

func (f *floorPeer) run(ctx context.Context, w work) (result, error) {
	if w.kind != mutex || w.sessions != 1 {
		return result{}, errors.New("the floor is that of a mutex in one session")
	}
	conn := f.conns[w.servers[0]]
	if conn == nil {
		var err error
		if conn, err = connectZK(ctx, w.servers[0]); err != nil {
			return result{}, err
		}
		f.conns[w.servers[0]] = conn
	}
	if err := floorCycle(ctx, conn, work{path: w.path, contenders: 1}); err != nil {
		return result{}, err // one cycle before the clock starts, as every peer
	}
	var before, after runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&before)
	begin := time.Now()
	for range w.cycles {
		if err := floorCycle(ctx, conn, w); err != nil {
			return result{}, err
		}
	}
	elapsed := time.Since(begin)
	runtime.ReadMemStats(&after)
	return result{elapsed: elapsed, mallocs: after.Mallocs - before.Mallocs}, nil
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

func (f *floorPeer) park(context.Context, work) error { return errors.New("nobody waits on the floor") }
func (f *floorPeer) unpark(context.Context) error     { return nil }

func (f *floorPeer) disconnect(context.Context) error {
	for _, conn := range f.conns {
		conn.Close()
	}
	clear(f.conns)
	return nil
}

func (f *floorPeer) close() { _ = f.disconnect(context.Background()) } // never fails
