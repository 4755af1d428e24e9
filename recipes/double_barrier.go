package recipes

import (
	"cmp"
	"context"
	"errors"
	"sync"

	"github.com/zkverify/zkverify/recipes/internal/barrier"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// DoubleBarrier makes the members of a group begin and end a piece of work together, as Curator's
// DistributedDoubleBarrier does. Enter returns when enough members have entered, Leave when all of
// them have left.
//
// A value is one member: each needs a value of its own. Any number of members, in any number of
// processes, Curator's included, meet at a path. All of them should name the same number n.
//
// # Rounds
//
// One path serves one round after the other: a member that returns from Leave may Enter the next at
// once. A round begins at the instant when n members are there, and is over when all of its members
// have left or their sessions have ended. No member returns from Enter before the round has begun,
// or from Leave before it is over. Nodes that remain on the path after the members of a round
// crashed do not begin a new round.
//
// The number n is a threshold, not a limit. A member that enters during a round joins it, and the
// others wait for it to leave too. A member that has left this round, and whose wait in Leave was
// cancelled, does not join it again: its Enter first waits until the round is over.
//
// Waiting members read the list of all members again and again: a double barrier is made for
// hundreds.
type DoubleBarrier struct {
	client *Client
	path   string
	n      int
	cfg    lockConfig

	mu     sync.Mutex
	busy   bool            // a call is under way
	stay   *barrier.Member // inside
	behind int64           // the round that the member left, or was lost from, before the round was over
	gone   <-chan struct{} // closed when the node of the last stay is gone or its session has ended
	last   string          // path of the node of the last stay, which may exist although its session has ended
}

// NewDoubleBarrier returns a member, one of n, of the double barrier at path, whose node is a
// container too. Children whose names are not those of members are ignored. [WithData] applies to
// the member's node, [WithLockACL] also to the node that marks a round.
func NewDoubleBarrier(client *Client, path string, n int, options ...LockOption) *DoubleBarrier {
	return &DoubleBarrier{client: client, path: client.resolve(path), n: n, cfg: newLockConfig(client, "DoubleBarrier", options)}
}

// Path returns the barrier's path.
func (b *DoubleBarrier) Path() string { return b.path }

// Enter waits until n members have entered. When it returns an error the member is not inside, and
// its node is gone or being deleted in the background; other members may count it until then, at
// the latest until its session ends. If ctx ends at the moment when n members have entered, Enter
// returns ctx's cause and the others pass: to them this member has left already. Enter may be
// called again, and joins them if they are still inside. To delete the nodes that a crash has left,
// the client needs permission to write the node at path.
func (b *DoubleBarrier) Enter(ctx context.Context) error {
	if err := b.enter(ctx); err != nil {
		return b.client.failed(ctx, "enter", b.path, err)
	}
	return nil
}

// Leave gives up the membership, also if ctx has ended, and waits until all members have done so,
// or their sessions have ended. When ctx ends first, Leave returns its cause, and may be called
// again to continue the wait, also after the end of a session. The other members do not pass before
// this member's node is gone; the client deletes it in the background.
func (b *DoubleBarrier) Leave(ctx context.Context) error {
	if err := b.leave(ctx); err != nil {
		return b.client.failed(ctx, "leave", b.path, err)
	}
	return nil
}

func (b *DoubleBarrier) enter(ctx context.Context) error {
	if err := cmp.Or(b.cfg.bad, session.CheckPath(b.path)); err != nil {
		return err
	}
	if b.n < 1 || b.n > maxMembers(b.path) {
		return ErrBadMembers
	}
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	b.mu.Lock()
	if b.busy || b.stay != nil {
		b.mu.Unlock()
		return ErrEntered
	}
	b.busy = true
	b.mu.Unlock()
	defer b.idle()

	if b.gone != nil {
		select { // else one member would count twice
		case <-b.gone:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if err := b.catchUp(ctx, nil, nil); err != nil {
		return err
	}
	for pace := new(session.Backoff); ; {
		var in *session.Session
		err := b.client.sessions.Through(ctx, func(s *session.Session) error {
			in = s
			if err := b.forget(ctx, s); err != nil {
				return err
			}
			m := barrier.NewMember(s, b.path, b.cfg.data, b.cfg.acl)
			err := m.Arrive(ctx)
			if err == nil {
				err = m.Enter(ctx, b.n)
			}
			if err != nil {
				b.withdraw(m)
				return err
			}
			b.stay = m
			return nil
		})
		if !errors.Is(err, session.ErrNodeGone) {
			return err
		}
		if err := pace.Wait(ctx, in); err != nil && !errors.Is(err, session.ErrEnded) {
			return err
		}
	}
}

func (b *DoubleBarrier) leave(ctx context.Context) error {
	b.mu.Lock()
	if b.busy || b.stay == nil && b.behind == 0 {
		b.mu.Unlock()
		return ErrNotEntered
	}
	b.busy = true
	b.mu.Unlock()
	defer b.idle()

	var in *session.Session
	var others []string
	if m := b.stay; m != nil {
		b.stay, b.behind, in = nil, m.Entered, m.S
		var ended bool
		var err error
		ended, others, err = m.Leave(ctx)
		switch {
		case ended:
			b.behind = 0
			return nil
		case errors.Is(err, session.ErrEnded) && b.client.sessions.Closed():
			return ErrClosed
		case errors.Is(err, session.ErrEnded), errors.Is(err, session.ErrNodeGone):
			m.S.Untrack(m.Path())
			m.S.Gone(m.Path())
			b.last = m.Path()
			return ErrMembershipLost
		case err != nil:
			b.withdraw(m)
			return err
		}
	}
	return b.catchUp(ctx, in, others)
}

// withdraw ends a stay whose node may still exist.
func (b *DoubleBarrier) withdraw(m *barrier.Member) {
	b.gone, b.last = m.Withdraw(), m.Path()
}

// forget makes sure that the node of the last stay is gone. Otherwise one member would count
// twice.
func (b *DoubleBarrier) forget(ctx context.Context, s *session.Session) error {
	if b.last == "" {
		return nil
	}
	d := barrier.Directory{S: s, Dir: b.path}
	err := d.Forget(ctx, b.last)
	if err == nil {
		b.last = ""
	}
	return err
}

// catchUp waits until the round that the member has left is over. The list others holds the
// members that remained, if the member has just left in the session in. Another session may be on
// a server that lags behind.
func (b *DoubleBarrier) catchUp(ctx context.Context, in *session.Session, others []string) error {
	if b.behind == 0 {
		return nil
	}
	err := b.client.sessions.Through(ctx, func(s *session.Session) error {
		if err := b.forget(ctx, s); err != nil {
			return err
		}
		if s != in {
			others = nil
			if up, err := session.Stands(ctx, s, b.path); err != nil || !up {
				return err
			}
		}
		r := barrier.Directory{S: s, Dir: b.path}
		return r.AwaitEmpty(ctx, b.behind, others)
	})
	if err == nil {
		b.behind = 0
	}
	return err
}

// idle ends a call. Of the fields only busy needs the mutex: the others belong to the one call
// under way, and do not change between calls.
func (b *DoubleBarrier) idle() {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.busy = false
}

// maxMembers returns the number of checks of members' nodes that fit into one transaction: the
// servers' jute.maxbuffer, 1 MB unless configured, bounds a packet.
func maxMembers(path string) int {
	const packet, rest = 1<<20 - 1<<12, 17 + 1 + 36 // of a check: headers, slash and name
	return packet / (rest + len(path))
}
