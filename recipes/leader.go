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

// Leader returns the candidate that leads, the first of the Participants, or [ErrNoLeader].
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

// Observe yields the leader, and yields again each time the leader or its data has changed. It
// never yields an older leader after a newer one, so the tokens never decrease. While there is no
// leader, it yields the zero Participant. It leaves out leaders that come and go between two
// steps of the loop.
//
// It continues across the loss of connections and sessions, until the loop or ctx ends. The last
// step of a loop that ends otherwise yields the error. Between the steps Observe has no goroutine.
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
// The servers show the leaders in order. A server shows a session no state older than the session
// has seen at other servers, see LastZxidSeen in ZooKeeper's connect request. A new session is a
// transaction, so the server that grants it has applied all transactions before it.
type observer struct {
	election *Election
	told     bool // latest has been yielded
	latest   Participant
}

// next waits until the leader differs from the latest one, or has other data, and returns it.
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

// learn stores the leader, and reports whether the leader or its data is new. A request to resign
// that hides the leader's data (see announced) is not new data.
func (o *observer) learn(leader Participant) bool {
	last, same := o.latest, o.told && leader.Token == o.latest.Token
	if hidden := string(leader.Data) == revokeData; hidden && same {
		leader.Data = last.Data
	}
	leader = announced(leader)
	o.told, o.latest = true, leader
	return !same || !bytes.Equal(leader.Data, last.Data)
}

// announced returns the candidate with its data, or with nil if the data is a request to resign.
// Curator's request replaces the data of a candidate WithLeaderSelector until the candidate
// restores it.
func announced(p Participant) Participant {
	if string(p.Data) == revokeData {
		p.Data = nil
	}
	return p
}

// look returns the leader, or the zero Participant, with a watch that fires when the leader
// changes.
func (e *Election) look(ctx context.Context, s *session.Session) (Participant, session.Watched, error) {
	before := ""
	for pace := session.Changed(); ; {
		name, leader, watch, err := e.lookOnce(ctx, s)
		if name != before { // each has led, perhaps for a moment
			pace.Anew()
			before = name
		}
		switch {
		case errors.Is(err, zk.ErrNoNode): // the first candidate has changed meanwhile
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

// lookOnce makes one attempt of look, and returns the name of the first candidate's node, too. It
// returns zk.ErrNoNode when look has to begin anew. It sets the watch before it reads the watched
// state, so that it misses no change.
func (e *Election) lookOnce(ctx context.Context, s *session.Session) (name string, leader Participant, watch session.Watched, err error) {
	name, err = e.firstName(ctx, s)
	switch {
	case errors.Is(err, zk.ErrNoNode): // not even their parent is there
		var there bool
		if watch, there, err = session.WatchForNode(ctx, s, e.Path()); there {
			err = zk.ErrNoNode
		}
	case err == nil && name == "":
		if watch, _, err = session.WatchChildren(ctx, s, e.Path()); err != nil {
			return name, leader, watch, err
		}
		if name, err = e.firstName(ctx, s); name != "" {
			err = zk.ErrNoNode
		}
	case err == nil:
		if watch, err = session.Watch(ctx, s, e.Path()+"/"+name); err == nil {
			leader, err = participantAt(ctx, s, e.Path()+"/"+name, e.queue.kind)
		}
	}
	return name, leader, watch, err
}

// first returns the first candidate, or the zero Participant if there is none.
func (e *Election) first(ctx context.Context, s *session.Session) (Participant, error) {
	before := ""
	for pace := session.Changed(); ; {
		name, err := e.firstName(ctx, s)
		if name != before {
			pace.Anew()
			before = name
		}
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
