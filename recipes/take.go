package recipes

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"
)

// take is one transaction that gives permits to the contenders of a session at
// the head of a semaphore's queue: to the first and, as far as there is room, to
// those that stand behind it with nobody in between. For each it makes the nodes
// of its permits and deletes its place in the queue. So all are admitted in their
// order, or none is, whatever becomes of the connection; only the head of the
// queue ever takes; and what a whole group takes costs one round trip.
type take struct {
	s       *session
	q       *line
	sem     *Semaphore
	version int32 // of the shared size that it counts on
	members []*contender
	done    chan struct{}
	over    bool // locked by q, as the members' asks
}

// maxTake bounds the data of a take, since servers refuse packets of more than a
// megabyte. What a single contender asks for is not cut.
const maxTake = 100 << 10

// startTake takes for the contender at an index in places, and for those behind
// it, as far as the room goes. q is locked.
func (q *line) startTake(i, room int) *take {
	first := q.own[q.places[i].Node]
	t := &take{s: q.s, q: q, sem: first.asks.sem, version: q.ledger.known.version, done: make(chan struct{})}
	size := 0
	for ; i < len(q.places); i++ {
		c := q.own[q.places[i].Node]
		if c == nil || c.asks == nil || c.asks.n > room || !c.asks.sem.same(t.sem) {
			break
		}
		size += c.asks.n * (len(c.data) + len(q.dir) + 100)
		if c != first && (!c.asks.waiting || q.places[i].listed == 0 || size > maxTake) {
			break
		}
		room -= c.asks.n
		c.asks.take = t
		t.members = append(t.members, c)
		c.wake()
	}
	if !q.s.spawn(t.run) {
		t.over = true
		for _, c := range t.members {
			c.asks.err = errSessionEnded
		}
		close(t.done)
	}
	return t
}

// await waits for what the take gives to one of its members. When it returns
// anything but errAskAgain the contender has left the queue, or is leaving it.
func (t *take) await(ctx context.Context, c *contender) (claim, error) {
	select {
	case <-t.done:
	case <-t.s.ended:
		return claim{}, errSessionEnded
	case <-ctx.Done():
		t.q.mu.Lock()
		over := t.over
		c.asks.abandoned = true
		t.q.mu.Unlock()
		if over {
			<-t.done
			c.asks.undo(c)
		}
		return claim{}, context.Cause(ctx)
	}
	if err := c.asks.err; err != nil {
		if !errors.Is(err, errAskAgain) {
			c.leave(ctx)
		}
		return claim{}, err
	}
	return c.asks.on, nil
}

// run makes the transaction, again until it is known what came of it. Its
// goroutine belongs to the session.
func (t *take) run() {
	ctx := t.s.quit
	for {
		t.q.mu.Lock()
		present := t.members[:0:0]
		for _, c := range t.members {
			if !c.asks.abandoned {
				present = append(present, c)
			}
		}
		t.q.mu.Unlock()
		if len(present) == 0 {
			t.finish(nil, nil, errAskAgain)
			return
		}
		given, failed, err := t.try(present)
		switch {
		case err == nil:
			t.finish(given, nil, nil)
			return
		case errors.Is(err, zk.ErrNoServer):
			err = t.s.awaitUp(ctx)
		case errors.Is(err, errNoPermits):
			err = createParents(ctx, t.s, t.sem.path+leasesDir)
		case answered(err), errors.Is(err, errNodeGone), errors.Is(err, errAskAgain):
			t.finish(nil, failed, err)
			return
		default: // the connection broke: the permits may have been taken or not
			if given, err = t.find(ctx, present); err == nil && given != nil {
				t.finish(given, nil, nil)
				return
			}
		}
		if err != nil {
			t.drop(present)
			t.finish(nil, nil, err)
			return
		}
	}
}

// errNoPermits says that the parent of the permits' nodes is missing.
var errNoPermits = errors.New("no parent for permits")

// given are the nodes that a take has made, by contender.
type given struct {
	paths map[*contender][]string
	token Token
}

// try makes the transaction once. When it fails on account of one contender it
// returns that one, too.
func (t *take) try(members []*contender) (_ *given, failed *contender, err error) {
	dir := t.sem.path + leasesDir
	var ops []any
	var of []*contender // whose operation it is
	for _, c := range members {
		for range c.asks.n {
			ops = append(ops, &zk.CreateRequest{
				Path: dir + "/" + protectedName(c.asks.guid, leaseKind), Data: c.data, Acl: c.acl, Flags: zk.FlagEphemeralSequential,
			})
			of = append(of, c)
		}
		ops = append(ops, &zk.DeleteRequest{Path: c.path(), Version: -1})
		of = append(of, c)
	}
	if t.sem.count != nil {
		ops = append(ops, &zk.CheckVersionRequest{Path: t.sem.count.path, Version: t.version})
		of = append(of, nil)
	}
	guid := members[0].asks.guid
	t.s.expectZxid(guid)
	results, err := t.s.conn.Multi(ops...)
	err = sent(err)
	token := Token{Zxid: t.s.takeZxid(guid)}
	if err != nil {
		i := slices.IndexFunc(results, func(r zk.MultiResponse) bool { return r.Error != nil })
		if i < 0 {
			return nil, nil, err
		}
		_, deletes := ops[i].(*zk.DeleteRequest)
		switch {
		case of[i] == nil:
			err = errAskAgain // the shared size has changed, or somebody deleted it
		case errors.Is(err, zk.ErrNoNode) && deletes:
			err = errNodeGone
		case errors.Is(err, zk.ErrNoNode):
			err = errNoPermits
		}
		return nil, of[i], err
	}
	made := &given{paths: make(map[*contender][]string), token: token}
	for i, c := range of {
		if c != nil && results[i].String != "" {
			made.paths[c] = append(made.paths[c], results[i].String)
		}
	}
	if token.IsZero() { // the path is too long for the tap
		made.token, err = identify(t.s.quit, t.s, made.paths[members[0]][0])
		if errors.Is(err, errNodeGone) { // somebody deletes them meanwhile
			t.drop(members)
		}
	}
	return made, nil, err
}

// drop deletes whatever permits these members may have.
func (t *take) drop(members []*contender) {
	for _, c := range members {
		t.s.deleteByGUID(t.sem.path+leasesDir, c.asks.guid, nil)
	}
}

// find looks for what a transaction has made whose reply was lost. It returns nil
// when it was not carried out, and never will be.
func (t *take) find(ctx context.Context, members []*contender) (*given, error) {
	dir := t.sem.path + leasesDir
	children, err := settledChildren(ctx, t.s, dir)
	if err != nil {
		return nil, err
	}
	made := &given{paths: make(map[*contender][]string)}
	for _, c := range members {
		for _, child := range children {
			if strings.HasPrefix(child, protectedName(c.asks.guid, "")) {
				made.paths[c] = append(made.paths[c], dir+"/"+child)
			}
		}
	}
	for _, c := range members {
		if paths := made.paths[c]; len(paths) > 0 && made.token.IsZero() {
			made.token, err = identify(ctx, t.s, paths[0])
			switch {
			case errors.Is(err, errNodeGone): // somebody deletes them meanwhile
				made.paths[c] = nil
				t.drop([]*contender{c})
			case err != nil:
				return nil, err
			}
		}
	}
	if len(made.paths) == 0 {
		return nil, nil
	}
	return made, nil
}

// finish tells the members what has come of the take: what it has made, or an
// error that one of them is to blame for, or all if that one is nil.
func (t *take) finish(made *given, blame *contender, err error) {
	var left []*contender
	t.q.mu.Lock()
	t.over = true
	for i, c := range t.members {
		a := c.asks
		switch {
		case made == nil && (blame == nil || blame == c):
			if a.err = err; errors.Is(err, errAskAgain) {
				a.take = nil
			}
		case made == nil:
			a.take, a.err = nil, errAskAgain
		case len(made.paths[c]) == a.n:
			a.on, a.err = t.claim(c, made.paths[c], Token{Zxid: made.token.Zxid, Sub: int32(i)}), nil
		default: // it was left out, or somebody deletes its permits
			a.err = errNodeGone
			if len(made.paths[c]) > 0 {
				t.drop([]*contender{c})
			}
		}
		if a.abandoned {
			left = append(left, c)
		}
	}
	if made == nil {
		t.q.ledger.known = nil // the shared size may have changed
	}
	t.q.mu.Unlock()
	close(t.done)
	for _, c := range left {
		c.asks.undo(c)
	}
}

// claim is what a lease of permits stands on. The line is locked.
func (t *take) claim(c *contender, paths []string, token Token) claim {
	q := t.q
	q.tookPermits(paths)
	q.drop(c.node)
	if q.flight != nil {
		q.left[c.node] = true
	}
	// The lease may have to wait for a heartbeat: see startHold.
	c.s.untrack(c.path())
	c.s.track(paths[0])
	return claim{
		s: c.s, nodes: paths, token: token, permits: len(paths), data: c.data,
		release: func(bool) error {
			c.s.untrack(paths[0])
			q.freePermits(paths)
			err := c.s.removeAllHere(paths, q.permitGone)
			c.s.leaveLine(q)
			return err
		},
	}
}
