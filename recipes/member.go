package recipes

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"
)

// member is one stay of a member in a double barrier, in one session. Each stay
// has a name of its own, so that nothing that happens late to one stay can
// happen to the next.
type member struct {
	room
	name string
	id   int64 // czxid of its node
	cfg  lockConfig

	entered int64 // the round that it has entered
}

func newMember(s *session, dir string, cfg lockConfig) *member {
	return &member{room: room{s: s, dir: dir}, name: newGUID(), cfg: cfg}
}

func (m *member) path() string { return m.dir + "/" + m.name }

// arrive creates the member's node.
func (m *member) arrive(ctx context.Context) error {
	for {
		_, err := ask(ctx, &m.room, func() (string, error) {
			return m.s.conn.Create(m.path(), m.cfg.data, zk.FlagEphemeral, m.cfg.acl)
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			if err := createParents(ctx, m.s, m.dir); err != nil {
				return err
			}
			continue
		case err != nil && !errors.Is(err, zk.ErrNodeExists): // that is an earlier try's: the name is random
			return err
		}
		m.s.track(m.path())
		m.id, err = m.czxid(ctx, m.name)
		if err == nil && m.id == 0 {
			err = errNodeGone
		}
		return err
	}
}

// enter waits until a round has begun that the member belongs to. It begins one
// itself if it finds enough members when it comes: whoever comes last does. For
// those who wait that would only be one useless transaction each, so that they
// do it only if the last one has not after a while.
func (m *member) enter(ctx context.Context, n int) error {
	var full time.Time // when n members were first seen in the wait
	comes, poll := true, m.s.pollAfter()
	for {
		_, linkChanged := m.s.linkState()
		members, ready, event, err := m.watch(ctx)
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && !slices.Contains(members, m.name):
			return errNodeGone
		case err != nil:
			return err
		case ready:
			if in, err := m.join(ctx, members); in || err != nil {
				return err
			}
			continue
		}
		patience := poll
		if len(members) < n {
			full, comes = time.Time{}, false
		} else {
			if full.IsZero() {
				full = time.Now()
			}
			if patience = time.Until(full.Add(poll / 10)); comes || patience <= 0 {
				if err := m.begin(ctx, members, n); err != nil {
					return err
				}
				continue
			}
		}
		// Only a reason to look again: taken for the beginning of the round it
		// would let a member pass alone (Curator GH-1290).
		if _, err := m.s.awaitEvent(ctx, event, linkChanged, patience); err != nil {
			return err
		}
	}
}

// join enters the round that has begun, if it is still on. Otherwise it clears
// away what is left of it.
func (m *member) join(ctx context.Context, members []string) (in bool, err error) {
	now, err := m.round(ctx)
	if err != nil || now == nil {
		return false, err
	}
	if m.id < now.id || now.joined(m.name) {
		m.entered = now.id
		return true, nil
	}
	witness, err := m.member(ctx, now, members)
	if err != nil {
		return false, err
	}
	if witness == "" {
		return false, m.clear(ctx)
	}
	err = m.multi(ctx,
		&zk.CheckVersionRequest{Path: m.dir + "/" + witness, Version: -1},
		&zk.SetDataRequest{Path: m.dir + "/" + readyName, Data: slices.Concat(now.data, []byte("\n"+m.name)), Version: now.version})
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	return false, err // the next look finds the member listed
}

// begin begins a round with n of these members, itself among them. They are
// there at that very instant: nobody is counted that has gone meanwhile
// (CURATOR-318, CURATOR-80). It is no error that somebody else was faster, or
// that one of them has gone.
func (m *member) begin(ctx context.Context, members []string, n int) error {
	ops := []any{&zk.CheckVersionRequest{Path: m.path(), Version: -1}}
	for _, name := range members {
		if len(ops) == n {
			break
		}
		if name != m.name {
			ops = append(ops, &zk.CheckVersionRequest{Path: m.dir + "/" + name, Version: -1})
		}
	}
	ops = append(ops, &zk.CreateRequest{Path: m.dir + "/" + readyName, Data: []byte{}, Acl: m.cfg.acl})
	err := m.multi(ctx, ops...)
	if errors.Is(err, zk.ErrNodeExists) || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// leave gives up the member's node. As in Curator, the one with the lowest name
// keeps it until it is alone, and all others wait for that: each is woken once,
// and one member ends the round, in one transaction. leave returns whether this
// one did; otherwise the others are still to be waited for.
//
// It returns errNodeGone when the node has gone without the member's doing.
func (m *member) leave(ctx context.Context) (ended bool, err error) {
	unsure := false // an unanswered request may have deleted the node
	for {
		others, ready, err := m.list(ctx)
		if err != nil {
			return false, err
		}
		own := slices.Index(others, m.name)
		if own < 0 && unsure {
			break
		}
		if own < 0 {
			return false, errNodeGone
		}
		others = slices.Delete(others, own, own+1)
		var now *round
		if ready {
			if now, err = m.round(ctx); err != nil {
				return false, err
			}
		}
		ops := []any{&zk.DeleteRequest{Path: m.path(), Version: -1}}
		ended = false
		switch {
		case now == nil || now.id != m.entered:
			// A Curator member that gave up waiting has deleted the ready node.
			// Who has come since belongs to another round.
			if others, err = m.older(ctx, others, m.entered); err != nil {
				return false, err
			}
		case len(others) == 0:
			ops = append(ops, &zk.DeleteRequest{Path: m.dir + "/" + readyName, Version: now.version})
			ended = true
		}
		if len(others) > 0 && m.name < others[0] {
			if err := m.s.awaitNode(ctx, m.dir+"/"+others[len(others)-1]); err != nil {
				return false, err
			}
			continue
		}
		err = m.multi(ctx, ops...)
		unsure = unsure || m.repeats
		switch {
		case err == nil:
			m.s.untrack(m.path())
			return ended, nil
		case !errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, zk.ErrNoNode):
			return false, err
		}
		// Somebody has joined, or one of the nodes has gone: look again.
	}
	m.s.untrack(m.path())
	return ended, nil
}

// withdraw deletes the member's node in the background, until it is gone or the
// session has ended and will take it along (CURATOR-318, CURATOR-80), and then
// what is left of its round if it was the last.
func (m *member) withdraw() <-chan struct{} {
	m.s.untrack(m.path())
	return m.s.background(func(ctx context.Context) error {
		m.quiet() // a request that is still under way could create something
		_, err := ask(ctx, &m.room, func() (struct{}, error) { return struct{}{}, m.s.conn.Delete(m.path(), -1) })
		if err == nil || errors.Is(err, zk.ErrNoNode) {
			err = m.clear(ctx)
		}
		if err != nil && answered(err) {
			return nil
		}
		return err
	})
}
