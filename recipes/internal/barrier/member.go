package barrier

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Member is one stay of a member in a double barrier, in one session. Each stay has a name
// of its own, so that a late effect on one stay cannot affect the next.
type Member struct {
	Directory
	name string
	id   int64  // czxid of its node
	data []byte // of its node
	acl  []zk.ACL

	saw node // the round at the latest attempt to join it

	Entered int64 // czxid of the round that the member has entered
}

// NewMember returns a member of the double barrier at dir. Its node gets this data and
// access control list. Arrive creates the node.
func NewMember(s *session.Session, dir string, data []byte, acl []zk.ACL) *Member {
	return &Member{Directory: Directory{S: s, Dir: dir}, name: session.NewGUID(), data: data, acl: acl}
}

// Path returns the path of the member's node.
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
		case err != nil && !errors.Is(err, zk.ErrNodeExists): // an existing node is from an earlier try: the name is random
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

// Forget deletes the node of a stay that ended in another session, and returns once the
// node is gone for good. The end of the session alone does not prove that the node is gone:
// a leader that is cut off from the other servers says that the session has ended, but
// cannot commit the end, and the next leader gives the session its full timeout. A request
// of that session cannot create the node any more either: the leader that has said so
// refuses the request, and a later leader commits what was proposed earlier, and so before
// this delete.
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
	var before []string
	for {
		_, linkChanged := m.S.LinkState()
		members, ready, event, err := m.watch(ctx)
		rank := slices.Index(members, m.name)
		if !slices.Equal(members, before) { // as in Leave
			pace.Anew()
			before = slices.Clone(members)
		}
		switch {
		case errors.Is(err, zk.ErrNoNode), err == nil && rank < 0:
			return session.ErrNodeGone
		case err != nil:
			return err
		case ready:
			if in, err := m.join(ctx, members, pace); in || err != nil {
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
		// An event is only a reason to look again. Taken for the beginning of the round
		// it would let a member pass alone (Curator GH-1290).
		fired, err := session.AwaitEvent(ctx, m.S, event, linkChanged, patience)
		if err == nil && fired {
			// Each arrival wakes all members. When many are arriving, wait for
			// some more of them before listing all of them again.
			err = session.Pause(ctx, m.S, min(time.Duration(len(members))*eachArrival, maxPause))
		}
		if err != nil {
			return err
		}
	}
}

// A member that waits among many lists them less often: after an event it pauses
// for eachArrival for each member that was there, and at most for maxPause.
const (
	eachArrival = 100 * time.Microsecond
	maxPause    = 100 * time.Millisecond
)

// turn returns the time that a member that sees n members leaves to others to begin the
// round: a transaction of each of them would cost the servers n² checks. Members that have
// just arrived begin it, one after the other; the last to arrive is one of them. If none of
// them does, the members that have waited for them do.
func turn(rank int, waited bool, poll time.Duration) time.Duration {
	if waited {
		return poll/10 + time.Duration(rank)*time.Millisecond
	}
	return time.Duration(rank) * time.Millisecond
}

// join enters the current round if it still has members. Otherwise it deletes the ready
// node.
func (m *Member) join(ctx context.Context, members []string, pace *session.Backoff) (in bool, err error) {
	now, err := m.round(ctx)
	if err != nil || now == nil {
		return false, err
	}
	if now.id != m.saw.id || now.version != m.saw.version { // others have joined since
		pace.Anew()
		m.saw = *now
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

// begin begins a round with n of these members, itself among them. The transaction checks
// that their nodes exist, so no member is counted that has left meanwhile (CURATOR-318,
// CURATOR-80). It is no error if another member begins the round first, or if one of the
// members has left.
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

// Leave deletes the member's node. As in Curator, the member with the lowest name keeps its
// node until it is alone, and all others wait for the deletion of that node: each is woken
// once, and one member ends the round, in one transaction. Leave returns whether this
// member ended the round; otherwise the caller still has to wait for the others, if they
// are known.
//
// It returns session.ErrNodeGone when the node was deleted by another client.
func (m *Member) Leave(ctx context.Context) (ended bool, others []string, err error) {
	unsure := false // an unanswered request may have deleted the node
	var before []string
	for pace := session.Changed(); ; {
		// The round is read first: a member that joins after that changes its version, and one
		// that joined before is in the list.
		now, err := m.round(ctx)
		if err != nil {
			return false, nil, err
		}
		if others, _, err = m.list(ctx); err != nil {
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
		ops := []any{&zk.DeleteRequest{Path: m.Path(), Version: -1}}
		ended = false
		switch {
		case now == nil || now.id != m.Entered:
			// A Curator member that gave up waiting has deleted the ready node.
			// Members that have arrived since belong to another round.
			if others, err = m.older(ctx, others, m.Entered); err != nil {
				return false, nil, err
			}
		case len(others) == 0:
			ops = append(ops, &zk.DeleteRequest{Path: m.Dir + "/" + readyName, Version: now.version})
			ended = true
		}
		if len(others) > 0 && m.name < others[0] {
			if err := session.AwaitNode(ctx, m.S, m.Dir+"/"+others[len(others)-1], 0, pace); err != nil {
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
		// A member has joined, or one of the nodes is gone: look again.
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

// Withdraw deletes the member's node in the background, until the node is gone or the
// session has ended, which deletes it too (CURATOR-318, CURATOR-80), if late (see Forget).
// Then it deletes the ready node if the member was the last of its round. The channel is
// closed when both are done or a server has refused one of them; the deletion of the
// member's node goes on then.
func (m *Member) Withdraw() <-chan struct{} {
	m.S.Untrack(m.Path())
	return session.Background(m.S, func(ctx context.Context) error {
		m.quiet() // a request that is still under way could create the node
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
