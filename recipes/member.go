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

// enter waits until a round has begun that the member belongs to.
func (m *member) enter(ctx context.Context, n int) error {
	var full time.Time // when n members were first seen
	waited, poll := false, m.s.pollAfter()
	for {
		_, linkChanged := m.s.linkState()
		members, ready, event, err := m.watch(ctx)
		rank := slices.Index(members, m.name)
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && rank < 0:
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
			full, waited = time.Time{}, true
		} else {
			if full.IsZero() {
				full = time.Now()
			}
			if patience = time.Until(full.Add(turn(rank, waited, poll))); patience <= 0 {
				if err := m.begin(ctx, members, n); err != nil {
					return err
				}
				continue
			}
		}
		// Only a reason to look again: taken for the beginning of the round it
		// would let a member pass alone (Curator GH-1290).
		fired, err := m.s.awaitEvent(ctx, event, linkChanged, patience)
		if err == nil && fired {
			// Each arrival wakes everybody. Where a crowd is coming, let some
			// more of it come before the next look at all of it.
			err = m.s.pause(ctx, min(time.Duration(len(members))*eachArrival, maxPause))
		}
		if err != nil {
			return err
		}
	}
}

// A member that waits in a crowd looks at most so often: not for less than
// eachArrival for each member that was there.
const (
	eachArrival = 100 * time.Microsecond
	maxPause    = 100 * time.Millisecond
)

// turn is how long a member that sees n members leaves it to others to begin the
// round: a transaction for each of them would cost the servers n² checks. Those
// who have just come begin it, one after the other; whoever came last is one of
// them. If none of them does, those who have waited for them do.
func turn(rank int, waited bool, poll time.Duration) time.Duration {
	if waited {
		return poll/10 + time.Duration(rank)*time.Millisecond
	}
	return time.Duration(rank) * time.Millisecond
}

// join enters the round that has begun, if it is still on. Otherwise it clears
// away what is left of it.
func (m *member) join(ctx context.Context, members []string) (in bool, err error) {
	now, err := m.round(ctx)
	if err != nil || now == nil {
		return false, err
	}
	if m.id < now.id || now.lists(m.name) {
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
// one did; otherwise the others, if they are known, are still to be waited for.
//
// It returns errNodeGone when the node has gone without the member's doing.
func (m *member) leave(ctx context.Context) (ended bool, others []string, err error) {
	unsure := false // an unanswered request may have deleted the node
	for {
		var ready bool
		others, ready, err = m.list(ctx)
		if err != nil {
			return false, nil, err
		}
		own := slices.Index(others, m.name)
		if own < 0 && unsure {
			break
		}
		if own < 0 {
			return false, nil, errNodeGone
		}
		others = slices.Delete(others, own, own+1)
		var now *node
		if ready {
			if now, err = m.round(ctx); err != nil {
				return false, nil, err
			}
		}
		ops := []any{&zk.DeleteRequest{Path: m.path(), Version: -1}}
		ended = false
		switch {
		case now == nil || now.id != m.entered:
			// A Curator member that gave up waiting has deleted the ready node.
			// Who has come since belongs to another round.
			if others, err = m.older(ctx, others, m.entered); err != nil {
				return false, nil, err
			}
		case len(others) == 0:
			ops = append(ops, &zk.DeleteRequest{Path: m.dir + "/" + readyName, Version: now.version})
			ended = true
		}
		if len(others) > 0 && m.name < others[0] {
			if err := m.s.awaitNode(ctx, m.dir+"/"+others[len(others)-1]); err != nil {
				return false, nil, err
			}
			continue
		}
		err = m.multi(ctx, ops...)
		unsure = unsure || m.repeats
		switch {
		case err == nil:
			m.s.untrack(m.path())
			return ended, others, nil
		case !errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, zk.ErrNoNode):
			return false, nil, err
		}
		// Somebody has joined, or one of the nodes has gone: look again.
	}
	m.s.untrack(m.path())
	return ended, nil, nil
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
