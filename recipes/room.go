package recipes

import (
	"bytes"
	"context"
	"errors"
	"slices"

	"github.com/go-zookeeper/zk"
)

// A double barrier's directory as Curator lays it out: an ephemeral node for
// each member, named by a UUID, and the persistent node "ready" once enough of
// them have come.
//
// # Rounds
//
// The same directory serves one round after the other. A round is named by the
// czxid R of its ready node, and its members are
//
//   - whoever has a node older than R: it was there when the round began;
//   - whoever came later and is listed in the ready node's data, a name a line.
//
// So a ready node that was left behind (by members that crashed, or by Curator)
// opens nothing: its round has no members left, and nobody can join, because
// joining takes a member as a witness, in the same transaction. Curator's own
// members go by the existence of the node alone; they list nobody.
//
// What changes a round is one transaction each, so that nobody acts on a list
// that is out of date:
//
//   - begin: check n members' nodes, create ready;
//   - join: check one member's node, write the list with the version that was read;
//   - end: the last member deletes its own node and ready, with the version that
//     was read, so that it is the last;
//   - clear, after a crash: write the directory, delete ready, each with the
//     version that was read before its round was found empty. A ready node that
//     was deleted and created again has the same version; the directory does not.
const readyName = "ready"

// room is a double barrier's directory as one session sees it. One goroutine
// uses it at a time.
type room struct {
	s       *session
	dir     string
	repeats bool            // the latest request was repeated: what it found may be its own doing
	running <-chan struct{} // closed when the latest request has come to its end; nil before the first
}

// ask repeats a request until it is answered. It notes when the request has come
// to its end, which may be after the caller has gone.
func ask[T any](ctx context.Context, r *room, request func() (T, error)) (T, error) {
	r.repeats = false
	for {
		done := make(chan struct{})
		r.running = done
		value, err := call(ctx, r.s, func() (T, error) {
			defer close(done)
			return request()
		}, nil)
		if err == nil || answered(err) || ctx.Err() != nil {
			return value, err
		}
		r.repeats = r.repeats || !errors.Is(err, zk.ErrNoServer)
		if err := r.s.awaitUp(ctx); err != nil {
			return value, err
		}
	}
}

// quiet waits until no request of the room is under way.
func (r *room) quiet() {
	if r.running == nil {
		return
	}
	select {
	case <-r.running:
	case <-r.s.ended:
	}
}

func (r *room) multi(ctx context.Context, ops ...any) error {
	_, err := ask(ctx, r, func() (struct{}, error) {
		_, err := r.s.conn.Multi(ops...)
		return struct{}{}, err
	})
	return err
}

// list returns the members in the order of their names, and whether there is a
// ready node. A directory that is not there has none.
func (r *room) list(ctx context.Context) (members []string, ready bool, err error) {
	children, err := ask(ctx, r, func() ([]string, error) {
		children, _, err := r.s.conn.Children(r.dir)
		return children, err
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, false, nil
	}
	members, ready = roll(children)
	return members, ready, err
}

// watch is list with a watch, for whoever has a node in the directory: the
// deletion of that node fires it, so that it outlives no wait (CURATOR-654). A
// watch for the ready node itself would stay until somebody creates it.
func (r *room) watch(ctx context.Context) (members []string, ready bool, event <-chan zk.Event, err error) {
	type answer struct {
		children []string
		event    <-chan zk.Event
	}
	a, err := ask(ctx, r, func() (a answer, err error) {
		a.children, _, a.event, err = r.s.conn.ChildrenW(r.dir)
		return a, err
	})
	members, ready = roll(a.children)
	return members, ready, a.event, err
}

// roll tells members from the rest. Children that are neither UUIDs nor ready
// are foreign: one must not count as a member, as it does for Curator.
func roll(children []string) (members []string, ready bool) {
	for _, child := range children {
		switch {
		case child == readyName:
			ready = true
		case isUUID(child):
			members = append(members, child)
		}
	}
	slices.Sort(members)
	return members, ready
}

func isUUID(name string) bool {
	if len(name) != 36 {
		return false
	}
	for i := range len(name) {
		c := name[i]
		switch i {
		case 8, 13, 18, 23:
			if c != '-' {
				return false
			}
		default:
			if (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F') {
				return false
			}
		}
	}
	return true
}

// round is a ready node.
type round struct {
	id      int64 // czxid
	version int32
	data    []byte
}

// joined reports whether name is listed as one who came after the round had
// begun.
func (r *round) joined(name string) bool {
	return slices.ContainsFunc(bytes.Split(r.data, []byte{'\n'}), func(line []byte) bool { return string(line) == name })
}

// round returns the round that has begun, or nil.
func (r *room) round(ctx context.Context) (*round, error) {
	now, err := ask(ctx, r, func() (*round, error) {
		data, stat, err := r.s.conn.Get(r.dir + "/" + readyName)
		if err != nil {
			return nil, err
		}
		return &round{id: stat.Czxid, version: stat.Version, data: data}, nil
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil, nil
	}
	return now, err
}

// czxid returns that of a child, or 0 when it is not there.
func (r *room) czxid(ctx context.Context, name string) (int64, error) {
	return ask(ctx, r, func() (int64, error) {
		ok, stat, err := r.s.conn.Exists(r.dir + "/" + name)
		if err != nil || !ok {
			return 0, err
		}
		return stat.Czxid, nil
	})
}

// member returns the first of names that is a member of the round, or "". The
// round must have been read after the names: whoever joined before the list is
// in it then, and nobody can have joined since if none of them is a member.
func (r *room) member(ctx context.Context, now *round, names []string) (string, error) {
	for _, name := range names {
		if now.joined(name) {
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

// older returns those of names that were there before the node with the czxid
// id.
func (r *room) older(ctx context.Context, names []string, id int64) ([]string, error) {
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

// empty waits until no member of a round is left, for those that have left
// already.
func (r *room) empty(ctx context.Context, id int64) error {
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
				// The last one did not end the round: its session did.
				err := r.clear(ctx)
				if err != nil && answered(err) && !errors.Is(err, errSessionEnded) {
					return nil // it opens nothing to anybody here
				}
				if err != nil {
					return err
				}
				continue
			}
		} else {
			older, err := r.older(ctx, members, id)
			if err != nil {
				return err
			}
			if len(older) == 0 {
				return nil
			}
			left = older[0]
		}
		if err := r.s.awaitNode(ctx, r.dir+"/"+left); err != nil {
			return err
		}
	}
}

// clear deletes the ready node if its round has no members left. It is no error
// that somebody else was faster.
func (r *room) clear(ctx context.Context) error {
	dir, err := ask(ctx, r, func() (*round, error) {
		data, stat, err := r.s.conn.Get(r.dir)
		if err != nil {
			return nil, err
		}
		return &round{id: stat.Czxid, version: stat.Version, data: data}, nil
	})
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	if err != nil {
		return err
	}
	members, ready, err := r.list(ctx)
	if err != nil || !ready {
		return err
	}
	now, err := r.round(ctx)
	if err != nil || now == nil {
		return err
	}
	if name, err := r.member(ctx, now, members); err != nil || name != "" {
		return err
	}
	err = r.multi(ctx,
		&zk.SetDataRequest{Path: r.dir, Data: dir.data, Version: dir.version},
		&zk.DeleteRequest{Path: r.dir + "/" + readyName, Version: now.version})
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}
