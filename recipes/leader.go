package recipes

import (
	"bytes"
	"context"
	"errors"
	"iter"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Leader returns the candidate that leads, or [ErrNoLeader]. It is a picture of the recent past:
// the server that is asked may not have heard of the newest leader, and one that has crashed is
// there until its session has expired. Its other errors are those of [Mutex.Participants].
func (e *Election) Leader(ctx context.Context) (leader Participant, err error) {
	if err = session.CheckPath(e.Path()); err == nil {
		err = e.queue.client.sessions.Through(ctx, func(s *session.Session) error {
			leader, err = e.first(ctx, s)
			return err
		})
	}
	if err == nil && leader.Node == "" {
		err = ErrNoLeader
	}
	if err != nil {
		return Participant{}, e.queue.client.failed(ctx, "leader", e.Path(), err)
	}
	return announced(leader), nil
}

// Observe yields the leader, and again each time when it or its data has changed: never an
// older one after a newer one, so that the tokens never fall. While nobody leads, it yields the
// zero Participant. Leaders that come and go between two steps of the loop are left out.
//
// It goes on through the loss of connections and sessions, until the loop ends or ctx does. Then
// it yields ctx's cause as its last step; as other last errors it yields those of
// [Mutex.Participants]. Between the steps it has no goroutine. What it may leave at the servers
// is a watch on the leader's node or on the election's, for all observers of the session
// together, until that node changes or the session ends: ZooKeeper's Go client cannot take a
// watch back.
func (e *Election) Observe(ctx context.Context) iter.Seq2[Participant, error] {
	return func(yield func(Participant, error) bool) {
		o := &observer{election: e}
		for {
			leader, err := o.next(ctx)
			if err != nil {
				yield(Participant{}, e.queue.client.failed(ctx, "observe", e.Path(), err))
				return
			}
			if !yield(leader, nil) {
				return
			}
		}
	}
}

// observer is one loop over the leaders of an election.
//
// What it sees comes in order by itself. A server shows a session nothing older than the
// session has seen elsewhere, see LastZxidSeen of ZooKeeper's connect request; and to grant a
// session is a transaction, so that the server which grants it has heard of all before.
type observer struct {
	election *Election
	told     bool // the latest was yielded
	latest   Participant
}

// next returns the leader when it is another one than the latest, or has other data.
func (o *observer) next(ctx context.Context) (leader Participant, err error) {
	if err := session.CheckPath(o.election.Path()); err != nil {
		return leader, err
	}
	err = o.election.queue.client.sessions.Through(ctx, func(s *session.Session) error {
		for {
			up, linkChanged := s.LinkState()
			if !up {
				if err := s.AwaitUp(ctx); err != nil {
					return err
				}
				continue
			}
			seen, watch, err := o.election.look(ctx, s)
			if err != nil {
				return err
			}
			if o.learn(seen) {
				leader = o.latest
				return nil
			}
			fired, err := session.AwaitEvent(ctx, s, watch.Event, linkChanged, s.Timeout())
			if err != nil {
				return err
			}
			if fired {
				s.WatchFired(watch)
			}
		}
	})
	return leader, err
}

// learn takes in who leads, and reports whether it is news. A request to resign that hides
// what the leader announces (see announced) is none.
func (o *observer) learn(leader Participant) bool {
	last, same := o.latest, o.told && leader.Token == o.latest.Token
	if hidden := string(leader.Data) == revokeData; hidden && same {
		leader.Data = last.Data
	}
	leader = announced(leader)
	o.told, o.latest = true, leader
	return !same || !bytes.Equal(leader.Data, last.Data)
}

// announced is a candidate without a request to resign in the place of its data. Curator's
// way to ask hides what a candidate WithLeaderSelector announces, until it puts that back.
func announced(p Participant) Participant {
	if string(p.Data) == revokeData {
		p.Data = nil
	}
	return p
}

// look returns the leader, or the zero Participant, with a watch that fires when that changes.
func (e *Election) look(ctx context.Context, s *session.Session) (Participant, session.Watched, error) {
	for pace := session.Changed(); ; {
		leader, watch, err := e.lookOnce(ctx, s)
		switch {
		case errors.Is(err, zk.ErrNoNode): // what it has found first has changed meanwhile
			if err := pace.Wait(ctx, s); err != nil {
				return leader, watch, err
			}
		case err == nil, session.Answered(err):
			return leader, watch, err
		case ctx.Err() != nil:
			return leader, watch, context.Cause(ctx)
		default:
			if err := s.AwaitUp(ctx); err != nil {
				return leader, watch, err
			}
		}
	}
}

// lookOnce is a look that returns zk.ErrNoNode when it has to begin anew. The watch is there
// before what it is for is looked at, so that no change is missed.
func (e *Election) lookOnce(ctx context.Context, s *session.Session) (leader Participant, watch session.Watched, err error) {
	name, err := e.firstName(ctx, s)
	switch {
	case errors.Is(err, zk.ErrNoNode): // not even their parent is there
		var there bool
		if watch, there, err = session.WatchForNode(ctx, s, e.Path()); there {
			err = zk.ErrNoNode
		}
	case err == nil && name == "":
		if watch, _, err = session.WatchChildren(ctx, s, e.Path()); err != nil {
			return leader, watch, err
		}
		if name, err = e.firstName(ctx, s); name != "" {
			err = zk.ErrNoNode
		}
	case err == nil:
		if watch, err = session.Watch(ctx, s, e.Path()+"/"+name); err == nil {
			leader, err = participantAt(ctx, s, e.Path()+"/"+name, e.queue.kind)
		}
	}
	return leader, watch, err
}

// first returns the first candidate, the zero Participant if there is none.
func (e *Election) first(ctx context.Context, s *session.Session) (Participant, error) {
	for pace := session.Changed(); ; {
		name, err := e.firstName(ctx, s)
		if errors.Is(err, zk.ErrNoNode) || err == nil && name == "" {
			return Participant{}, nil
		}
		if err != nil {
			return Participant{}, err
		}
		leader, err := participantAt(ctx, s, e.Path()+"/"+name, e.queue.kind)
		if !errors.Is(err, zk.ErrNoNode) {
			return leader, err
		}
		if err := pace.Wait(ctx, s); err != nil {
			return leader, err
		}
	}
}

// firstName returns the name of the first candidate's node, "" if there is none.
func (e *Election) firstName(ctx context.Context, s *session.Session) (string, error) {
	children, err := session.Retry(ctx, s, func() ([]string, error) {
		children, _, err := s.Conn.Children(e.Path())
		return children, err
	})
	places := queue.Places(children, e.queue.kinds)
	if len(places) == 0 {
		return "", err
	}
	return places[0].Node, nil
}
