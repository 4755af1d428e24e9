package inspect

import (
	"context"
	"errors"
	"sync"

	"github.com/go-zookeeper/zk"
)

// Source reads nodes. *zk.Conn implements it. A call that is under way is not interrupted
// when the context of [Find] or [Read] ends; it ends with its answer or with its
// connection.
type Source interface {
	Children(path string) ([]string, *zk.Stat, error)
	Get(path string) ([]byte, *zk.Stat, error)
	Exists(path string) (bool, *zk.Stat, error)
}

// parallel is the default number of requests under way at once, see [Parallel]: enough to
// be busy during a round trip, and few enough to leave room for other clients.
const parallel = 64

// Option changes how [Find] and [Read] read.
type Option func(*reader)

// Parallel sets how many requests may be under way at once, at least 1. Default 64.
func Parallel(n int) Option { return func(r *reader) { r.slots = make(chan struct{}, max(1, n)) } }

// Brief reads, of each lock, only the nodes of one holder and of the first waiter, as many
// requests as an overview needs. [Contender.Read] is false for the other contenders.
func Brief() Option { return func(r *reader) { r.brief = true } }

// reader reads locks from a source.
type reader struct {
	ctx   context.Context
	src   Source
	slots chan struct{} // one for each request that may be under way
	brief bool
}

func newReader(ctx context.Context, src Source, options []Option) *reader {
	r := &reader{ctx: ctx, src: src}
	for _, o := range append([]Option{Parallel(parallel)}, options...) {
		o(r)
	}
	return r
}

// request makes one request when there is a slot for it.
func (r *reader) request(ask func() error) error {
	select {
	case r.slots <- struct{}{}:
	case <-r.ctx.Done():
		return context.Cause(r.ctx)
	}
	defer func() { <-r.slots }()
	if r.ctx.Err() != nil {
		return context.Cause(r.ctx)
	}
	return ask()
}

// each calls f with 0 to n-1, several at once if there are many, and returns one of the
// errors.
func (r *reader) each(n int, f func(i int) error) error {
	const few = 4
	if n <= few {
		for i := range n {
			if err := f(i); err != nil {
				return err
			}
		}
		return nil
	}
	var mu sync.Mutex
	var first error
	next := 0
	take := func() (int, bool) {
		mu.Lock()
		defer mu.Unlock()
		next++
		return next - 1, next <= n && first == nil
	}
	var done sync.WaitGroup
	for range min(n, cap(r.slots)) {
		done.Go(func() {
			for i, more := take(); more; i, more = take() {
				if err := f(i); err != nil {
					mu.Lock()
					first = err
					mu.Unlock()
				}
			}
		})
	}
	done.Wait()
	return first
}

// serversPath is the path of the node that servers keep for themselves.
const serversPath = "/zookeeper"

// serversOwn reports whether a node is the servers' own. No transaction has created that
// one. Below a chroot a node of that name is an ordinary one, which a client has created.
func (r *reader) serversOwn(path string) (bool, error) {
	if path != serversPath {
		return false, nil
	}
	stat, err := r.stat(path)
	if errors.Is(err, zk.ErrNoNode) {
		return false, nil
	}
	return err == nil && stat.Czxid == 0, err
}
