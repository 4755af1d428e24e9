package queue

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Enqueue creates the contender's node. It pipelines a list request behind the create if
// the session knows nothing of the queue and the contender is not likely to follow another.
// When it returns an error no node is left, or its deletion is under way.
func (c *Contender) Enqueue(ctx context.Context) error {
	prefix := c.q.dir + "/" + session.ProtectedName(c.guid, c.kind)
	c.before = c.q.lines.lastTurn(c.q)
	first := true
	return c.create(ctx, func() (string, error) {
		c.asked = c.q.now()
		if first && c.q.empty() && !c.before.likely() {
			c.q.request() // behind the create in nearly every case; harmless before it
		}
		first = false
		return c.S.Conn.Create(prefix, c.data, zk.FlagEphemeralSequential, c.acl)
	})
}

// create creates the contender's node by a request that returns the node's path.
func (c *Contender) create(ctx context.Context, request func() (string, error)) error {
	c.S.ExpectZxid(c.guid)
	err := enqueueAll(ctx, c.S, []*Contender{c}, func() ([]string, error) {
		path, err := request()
		return []string{path}, err
	})
	if err != nil {
		c.S.TakeZxid(c.guid)
		c.q.exit()
	}
	return err
}

// enqueueAll creates the nodes of contenders of one session by one request, which creates
// either all or none of them and returns their paths.
func enqueueAll(ctx context.Context, s *session.Session, all []*Contender, request func() ([]string, error)) error {
	room := session.Room{}
	for _, c := range all {
		room.Add(c.guid, len(c.q.dir+"/"+session.ProtectedName(c.guid, c.kind))+digits)
	}
	var parents session.Parents
	made := false
	defer func() {
		if !made {
			parents.Unused(s)
		}
	}()
	for pace := session.Changed(); ; {
		paths, err := session.Call(ctx, s, func() ([]string, error) { return s.Making(room, request) }, func(paths []string, err error) { abandoned(s, all, paths, err) })
		switch {
		case err == nil:
			made = true
			zxid := s.TakeZxid(all[0].guid)
			if zxid == 0 { // the reply had no zxid
				if zxid, err = session.Identify(ctx, s, paths[0]); err != nil {
					giveUp(all)
					abandoned(s, all, paths, nil)
					return err
				}
			}
			for i, c := range all {
				c.enqueued(paths[i], zxid)
			}
			return nil
		case errors.Is(err, session.ErrEnded), session.GaveUp(ctx, err):
			giveUp(all)
			return err // abandoned handles the create
		case errors.Is(err, zk.ErrNoNode):
			var dirs []string
			for _, c := range all {
				dirs = append(dirs, c.q.dir)
			}
			if err := parents.Create(ctx, s, dirs...); err != nil {
				return err
			}
			continue
		case errors.Is(err, zk.ErrNoServer):
			if err := s.AwaitUp(ctx); err != nil {
				return err
			}
			continue
		case session.Answered(err):
			if !session.Undone(err) { // it may have been carried out
				giveUp(all)
				abandoned(s, all, nil, err)
			}
			return err
		}
		// The connection broke: the nodes may have been created. A second create
		// would leave a first node that blocks all contenders (CURATOR-45), so look.
		found, err := findContenders(ctx, s, all)
		if made = found; found || err != nil {
			return err
		}
		if err := pace.Wait(ctx, s); err != nil {
			return err
		}
	}
}

func (c *Contender) enqueued(path string, zxid int64) {
	c.Node, c.Zxid = path[strings.LastIndexByte(path, '/')+1:], zxid
	c.S.Track(c.path())
	c.q.join(c)
}

// findContenders looks for the nodes of contenders that one transaction was to create. When
// it returns an error no node is left, or their deletion is under way.
func findContenders(ctx context.Context, s *session.Session, all []*Contender) (found bool, err error) {
	defer func() {
		if err != nil {
			for _, c := range all {
				c.q.lines.givenUp.add(c.guid)
				session.DeleteByGUID(s, c.q.dir, c.guid, c.settled)
			}
		}
	}()
	var paths []string
	var zxids []int64
	for _, c := range all {
		got, err := session.FindByGUID(ctx, s, c.q.dir, c.guid)
		if err != nil {
			return false, err
		}
		if len(got) == 0 {
			continue
		}
		zxid, err := session.Identify(ctx, s, got[0])
		if err != nil {
			return false, err
		}
		paths, zxids = append(paths, got[0]), append(zxids, zxid)
	}
	switch len(paths) {
	case 0:
		return false, nil // the transaction was not carried out
	case len(all):
	default:
		return false, session.ErrNodeGone // another client is deleting them: the others must not stay
	}
	for i, c := range all {
		s.TakeZxid(c.guid)
		c.enqueued(paths[i], zxids[i])
	}
	return true, nil
}

// EnqueueTogether creates the nodes of contenders of one session by one transaction. When
// it returns an error no node is left, or their deletion is under way.
func EnqueueTogether(ctx context.Context, s *session.Session, all []*Contender) error {
	var ops []any
	for _, c := range all {
		s.ExpectZxid(c.guid)
		ops = append(ops, &zk.CreateRequest{
			Path: c.q.dir + "/" + session.ProtectedName(c.guid, c.kind), Data: c.data, Acl: c.acl, Flags: zk.FlagEphemeralSequential,
		})
	}
	err := enqueueAll(ctx, s, all, func() ([]string, error) {
		results, err := s.Conn.Multi(ops...)
		var paths []string
		for _, r := range results {
			paths = append(paths, r.String)
		}
		return paths, err
	})
	for _, c := range all {
		s.TakeZxid(c.guid)
		if err != nil {
			c.q.exit()
		}
	}
	return err
}
