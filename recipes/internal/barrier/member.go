package barrier

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Member is one stay of a member in a double barrier, in one session. Each stay
// has a name of its own, so that nothing that happens late to one stay can
// happen to the next.
type Member struct {
	Directory
	name string
	id   int64  // czxid of its node
	data []byte // of its node
	acl  []zk.ACL

	Entered int64 // the round that it has entered
}

// NewMember returns a member of the double barrier at dir, whose node is to have this
// data and access control list. Arrive makes the node.
func NewMember(s *session.Session, dir string, data []byte, acl []zk.ACL) *Member {
	return &Member{Directory: Directory{S: s, Dir: dir}, name: session.NewGUID(), data: data, acl: acl}
}

// Path is that of the member's node.
func (m *Member) Path() string { return m.Dir + "/" + m.name }

// Arrive creates the member's node.
func (m *Member) Arrive(ctx context.Context) error {
	var parents session.Parents
	made := false
	defer func() {
		if !made {
			parents.Unused(m.S)
		}
	}()
	room := session.Room{}
	room.Add(m.name, len(m.Path()))
	for {
		_, err := ask(ctx, &m.Directory, func() ([]string, error) {
			return m.S.Making(room, func() ([]string, error) {
				path, err := m.S.Conn.Create(m.Path(), m.data, zk.FlagEphemeral, m.acl)
				return []string{path}, err
			})
		})
		switch {
		case errors.Is(err, zk.ErrNoNode):
			if err := parents.Create(ctx, m.S, m.Dir); err != nil {
				return err
			}
			continue
		case err != nil && !errors.Is(err, zk.ErrNodeExists): // that is an earlier try's: the name is random
			return err
		}
		made = true
		m.S.Track(m.Path())
		m.id, err = m.czxid(ctx, m.name)
		if err == nil && m.id == 0 {
			err = session.ErrNodeGone
		}
		return err
	}
}

// Forget deletes the node of a stay that ended in another session, and returns once it
// is gone for good. That the session has ended is no proof: a leader that is cut off from
// the others says so of a session whose end it cannot commit, and to the next leader that
// session is as good as new. Nor can a request of that session still make the node: the
// leader that has said so refuses it, and a later leader commits what was proposed before
// the others, and so before this delete.
func (r *Directory) Forget(ctx context.Context, path string) error {
	_, err := ask(ctx, r, func() (struct{}, error) { return struct{}{}, r.S.Conn.Delete(path, -1) })
	if errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// Enter waits until a round has begun that the member belongs to.
func (m *Member) Enter(ctx context.Context, n int) error {
	var full time.Time // when n members were first seen
	waited, poll, pace := false, m.S.Timeout(), session.Changed()
	for {
		_, linkChanged := m.S.LinkState()
		members, ready, event, err := m.watch(ctx)
		rank := slices.Index(members, m.name)
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && rank < 0:
			return session.ErrNodeGone
		case err != nil:
			return err
		case ready:
			if in, err := m.join(ctx, members); in || err != nil {
				return err
			}
			if err := pace.Wait(ctx, m.S); err != nil {
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
				if err := pace.Wait(ctx, m.S); err != nil {
					return err
				}
				continue
			}
		}
		// Only a reason to look again: taken for the beginning of the round it
		// would let a member pass alone (Curator GH-1290).
		fired, err := session.AwaitEvent(ctx, m.S, event, linkChanged, patience)
		if err == nil && fired {
			// Each arrival wakes everybody. Where a crowd is coming, let some
			// more of it come before the next look at all of it.
			err = session.Pause(ctx, m.S, min(time.Duration(len(members))*eachArrival, maxPause))
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
// who have just come begin it, one after the other; the last to come is one of
// them. If none of them does, those who have waited for them do.
func turn(rank int, waited bool, poll time.Duration) time.Duration {
	if waited {
		return poll/10 + time.Duration(rank)*time.Millisecond
	}
	return time.Duration(rank) * time.Millisecond
}

// join enters the round that has begun, if it is still on. Otherwise it clears
// away what is left of it.
func (m *Member) join(ctx context.Context, members []string) (in bool, err error) {
	now, err := m.round(ctx)
	if err != nil || now == nil {
		return false, err
	}
	if m.id < now.id || now.lists(m.name) {
		m.Entered = now.id
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
		&zk.CheckVersionRequest{Path: m.Dir + "/" + witness, Version: -1},
		&zk.SetDataRequest{Path: m.Dir + "/" + readyName, Data: slices.Concat(now.data, []byte("\n"+m.name)), Version: now.version})
	if errors.Is(err, zk.ErrBadVersion) || errors.Is(err, zk.ErrNoNode) {
		err = nil
	}
	return false, err // the next look finds the member listed
}

// begin begins a round with n of these members, itself among them. They are
// there at that very instant: nobody is counted that has gone meanwhile
// (CURATOR-318, CURATOR-80). It is no error that somebody else was faster, or
// that one of them has gone.
func (m *Member) begin(ctx context.Context, members []string, n int) error {
	ops := []any{&zk.CheckVersionRequest{Path: m.Path(), Version: -1}}
	for _, name := range members {
		if len(ops) == n {
			break
		}
		if name != m.name {
			ops = append(ops, &zk.CheckVersionRequest{Path: m.Dir + "/" + name, Version: -1})
		}
	}
	ops = append(ops, &zk.CreateRequest{Path: m.Dir + "/" + readyName, Data: []byte{}, Acl: m.acl})
	err := m.multi(ctx, ops...)
	if errors.Is(err, zk.ErrNodeExists) || errors.Is(err, zk.ErrNoNode) {
		return nil
	}
	return err
}

// Leave gives up the member's node. As in Curator, the one with the lowest name
// keeps it until it is alone, and all others wait for that: each is woken once,
// and one member ends the round, in one transaction. leave returns whether this
// one did; otherwise the others, if they are known, are still to be waited for.
//
// It returns session.ErrNodeGone when the node has gone without the member's doing.
func (m *Member) Leave(ctx context.Context) (ended bool, others []string, err error) {
	unsure := false // an unanswered request may have deleted the node
	var before []string
	for pace := session.Changed(); ; {
		var ready bool
		others, ready, err = m.list(ctx)
		if err != nil {
			return false, nil, err
		}
		if !slices.Equal(others, before) { // their names are random: others have come or gone
			pace.Anew()
			before = slices.Clone(others)
		}
		own := slices.Index(others, m.name)
		if own < 0 && unsure {
			break
		}
		if own < 0 {
			return false, nil, session.ErrNodeGone
		}
		others = slices.Delete(others, own, own+1)
		var now *node
		if ready {
			if now, err = m.round(ctx); err != nil {
				return false, nil, err
			}
		}
		ops := []any{&zk.DeleteRequest{Path: m.Path(), Version: -1}}
		ended = false
		switch {
		case now == nil || now.id != m.Entered:
			// A Curator member that gave up waiting has deleted the ready node.
			// Who has come since belongs to another round.
			if others, err = m.older(ctx, others, m.Entered); err != nil {
				return false, nil, err
			}
		case len(others) == 0:
			ops = append(ops, &zk.DeleteRequest{Path: m.Dir + "/" + readyName, Version: now.version})
			ended = true
		}
		if len(others) > 0 && m.name < others[0] {
			if err := session.AwaitNode(ctx, m.S, m.Dir+"/"+others[len(others)-1], pace); err != nil {
				return false, nil, err
			}
			continue
		}
		err = m.multi(ctx, ops...)
		unsure = unsure || m.repeats
		switch {
		case err == nil:
			m.left()
			return ended, others, nil
		case !errors.Is(err, zk.ErrBadVersion) && !errors.Is(err, zk.ErrNoNode):
			return false, nil, err
		}
		// Somebody has joined, or one of the nodes has gone: look again.
		if err := pace.Wait(ctx, m.S); err != nil {
			return false, nil, err
		}
	}
	m.left()
	return ended, nil, nil
}

// left is called when the member's node is known to be gone.
func (m *Member) left() {
	m.S.Untrack(m.Path())
	m.S.Gone(m.Path())
}

// Withdraw deletes the member's node in the background, until it is gone or the
// session has ended and will take it along (CURATOR-318, CURATOR-80), if late (see
// Forget), and then what is left of its round if it was the last. The channel is closed
// when that is done or a server has refused it; the node's deletion goes on then.
func (m *Member) Withdraw() <-chan struct{} {
	m.S.Untrack(m.Path())
	return session.Background(m.S, func(ctx context.Context) error {
		m.quiet() // a request that is still under way could create something
		m.S.Untrack(m.Path())
		_, err := ask(ctx, &m.Directory, func() (struct{}, error) { return struct{}{}, m.S.Conn.Delete(m.Path(), -1) })
		switch {
		case err == nil, errors.Is(err, zk.ErrNoNode):
			m.S.Gone(m.Path())
			err = m.clear(ctx)
		case session.Answered(err):
			session.DeleteInBackground(m.S, m.Path(), nil)
		}
		if err != nil && session.Answered(err) {
			return nil
		}
		return err
	})
}
