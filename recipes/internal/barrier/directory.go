package barrier

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Directory is a double barrier's directory as one session sees it. One goroutine
// uses it at a time.
type Directory struct {
	S       *session.Session
	Dir     string
	repeats bool            // the latest request was repeated: an earlier try may have caused the answer
	running <-chan struct{} // closed when the latest request has come to its end; nil before the first
}

// ask repeats a request until it is answered. It notes when the request has ended, which
// may be after the caller has returned.
func ask[T any](ctx context.Context, r *Directory, request func() (T, error)) (T, error) {
	r.repeats = false
	for {
		done := make(chan struct{})
		over := sync.OnceFunc(func() { close(done) })
		r.running = done
		value, err := session.Call(ctx, r.S, func() (T, error) {
			defer over()
			return request()
		}, func(T, error) { over() }) // also when it was never sent
		if err == nil || session.Answered(err) || ctx.Err() != nil {
			return value, err
		}
		r.repeats = r.repeats || !errors.Is(err, zk.ErrNoServer)
		if err := r.S.AwaitUp(ctx); err != nil {
			return value, err
		}
	}
}

// quiet waits until no request of the directory is under way.
func (r *Directory) quiet() {
	if r.running == nil {
		return
	}
	select {
	case <-r.running:
	case <-r.S.Ended:
	}
}

func (r *Directory) multi(ctx context.Context, ops ...any) error {
	_, err := ask(ctx, r, func() (struct{}, error) {
		_, err := r.S.Conn.Multi(ops...)
		return struct{}{}, err
	})
	return err
}

// list returns the members in the order of their names, and whether there is a ready node.
// A directory that does not exist has neither.
func (r *Directory) list(ctx context.Context) (members []string, ready bool, err error) {
	children, err := ask(ctx, r, func() ([]string, error) {
		children, _, err := r.S.Conn.Children(r.Dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, false, nil
	}
	members, ready = roll(children)
	return members, ready, err
}

// watch is list with a watch, for a member that has a node in the directory. The deletion
// of that node fires the watch, so that no watch outlives its wait (CURATOR-654). A watch
// for the ready node itself would stay until a client creates the node.
func (r *Directory) watch(ctx context.Context) (members []string, ready bool, event <-chan zk.Event, err error) {
	type answer struct {
		children []string
		event    <-chan zk.Event
	}
	a, err := ask(ctx, r, func() (a answer, err error) {
		a.children, _, a.event, err = r.S.Conn.ChildrenW(r.Dir)
		return a, err
	})
	members, ready = roll(a.children)
	return members, ready, a.event, err
}

// node returns the node at path, or nil if it does not exist.
func (r *Directory) node(ctx context.Context, path string) (*node, error) {
	n, err := ask(ctx, r, func() (*node, error) {
		data, stat, err := r.S.Conn.Get(path)
		if err != nil {
			return nil, err
		}
		return &node{id: stat.Czxid, version: stat.Version, data: data}, nil
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return n, err
}

// round returns the ready node of the current round, or nil.
func (r *Directory) round(ctx context.Context) (*node, error) {
	return r.node(ctx, r.Dir+"/"+readyName)
}

// czxid returns the czxid of a child, or 0 if the child does not exist.
func (r *Directory) czxid(ctx context.Context, name string) (int64, error) {
	return ask(ctx, r, func() (int64, error) {
		ok, stat, err := r.S.Conn.Exists(r.Dir + "/" + name)
		if err != nil || !ok {
			return 0, err
		}
		return stat.Czxid, nil
	})
}

// member returns the first of names that is a member of the round, or "".
func (r *Directory) member(ctx context.Context, now *node, names []string) (string, error) {
	for _, name := range names {
		if now.lists(name) {
			return name, nil
		}
		id, err := r.czxid(ctx, name)
		if err != nil {
			return "", err
		}
		if id != 0 && id < now.id {
			return name, nil
		}
	}
	return "", nil
}

// older returns the names whose nodes are older than the node with the czxid id.
func (r *Directory) older(ctx context.Context, names []string, id int64) ([]string, error) {
	var found []string
	for _, name := range names {
		own, err := r.czxid(ctx, name)
		if err != nil {
			return nil, err
		}
		if own != 0 && own < id {
			found = append(found, name)
		}
	}
	return found, nil
}

// AwaitEmpty waits until the round has no member left. It is for members that have left
// already. others are the members that were there then, if they are known: later names
// belong to later rounds, unless they have joined this one.
func (r *Directory) AwaitEmpty(ctx context.Context, id int64, others []string) error {
	pace, before := session.Changed(), ""
	if len(others) > 0 { // others[0] was the lowest name: see Member.Leave
		if err := session.AwaitNode(ctx, r.S, r.Dir+"/"+others[0], 0, pace); err != nil {
			return err
		}
	}
	for {
		members, _, err := r.list(ctx)
		if err != nil {
			return err
		}
		now, err := r.round(ctx)
		if err != nil {
			return err
		}
		var left string
		if now != nil && now.id == id {
			if left, err = r.member(ctx, now, members); err != nil {
				return err
			}
			if left == "" {
				// The last member did not end the round: its session ended.
				err := r.clear(ctx)
				if err != nil && session.Answered(err) && !errors.Is(err, session.ErrEnded) {
					return nil // the ready node lets no member of this package in
				}
				if err == nil {
					err = pace.Wait(ctx, r.S)
				}
				if err != nil {
					return err
				}
				continue
			}
		} else {
			// Usually the round is over. But a Curator member that gave up
			// waiting deletes the ready node while members are inside.
			if len(others) > 0 {
				members = slices.DeleteFunc(members, func(name string) bool { return !slices.Contains(others, name) })
			}
			older, err := r.older(ctx, members, id)
			if err != nil {
				return err
			}
			if len(older) == 0 {
				return nil
			}
			left = older[0]
		}
		if left != before { // the member before has left
			pace.Anew()
			before = left
		}
		if err := session.AwaitNode(ctx, r.S, r.Dir+"/"+left, 0, pace); err != nil {
			return err
		}
	}
}

// clear deletes the ready node if its round has no members left. It is no error if another
// client deletes the node first.
//
// The round is the same before and after the list. So at the time of the list it had no
// member: from then on no member can end it, none can join it, and a client that clears it
// changes the directory's version.
func (r *Directory) clear(ctx context.Context) error {
	dir, err := r.node(ctx, r.Dir)
	if err != nil || dir == nil {
		return err
	}
	before, err := r.round(ctx)
	if err != nil || before == nil {
		return err
	}
	members, _, err := r.list(ctx)
	if err != nil {
		return err
	}
	for _, name := range members {
		if before.lists(name) {
			return nil
		}
		// 0, a node that has gone since, may have been a member's.
		if id, err := r.czxid(ctx, name); err != nil || id < before.id {
			return err
		}
	}
	now, err := r.round(ctx)
	if err != nil || now == nil || now.id != before.id || now.version != before.version {
		return err
	}
	err = r.multi(ctx,
		&zk.SetDataRequest{Path: r.Dir, Data: dir.data, Version: dir.version},
		&zk.DeleteRequest{Path: r.Dir + "/" + readyName, Version: now.version})
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
