package queue

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/internal/session"
)

// batch is one transaction that gives permits to the contenders of a session at
// the head of a semaphore's queue: to the first and, as far as there is room, to
// those that stand behind it with nobody in between. For each it makes the nodes
// of its permits and deletes its place in the queue. So all are admitted in their
// order, or none is, whatever becomes of the connection; only the head of the
// queue ever takes; and what a whole group takes costs one round trip.
type batch struct {
	s       *session.Session
	q       *localQueue
	pool    *Pool
	version int32 // of the shared size that it counts on
	members []*Contender
	done    chan struct{}
	over    bool // locked by q, as the members' asks
}

// maxBatch bounds the data of a batch, since servers refuse packets of more than a
// megabyte. What a single contender asks for is not cut.
const maxBatch = 100 << 10

// aPermit is what the head of a semaphore's queue waits for in the local queue when
// permits of this session are out.
const aPermit = "/"

// ledgerOf returns what the session remembers of the permits of a queue, which is
// locked.
func ledgerOf(q *localQueue) *ledger {
	if q.memory == nil {
		q.memory = new(ledger)
	}
	return q.memory.(*ledger)
}

// batchOrWait starts a batch for the contender at the head of the queue when what
// is known leaves room. When it does not, the contender is registered to be woken
// as soon as this session gives a permit back.
func batchOrWait(c *Contender) (*batch, shortage, error) {
	q := c.q
	q.mu.Lock()
	defer q.mu.Unlock()
	i := q.find(c.Node)
	if q.own[c.Node] != c || i < 0 {
		return nil, unknown, session.ErrNodeGone
	}
	l := ledgerOf(q)
	if q.places[i].listed > l.before {
		l.known = nil
	}
	if l.known == nil {
		return nil, unknown, nil
	}
	used, n := l.known.used(), requestOf(c).n
	if room := l.known.size - used; room >= n {
		most := c.S.Listable(len(session.ProtectedName(requestOf(c).guid, Permit)) + digits)
		if used+n > most { // no client could count what is out
			return nil, unknown, fmt.Errorf("%w: a list of permits has room for %d, and %d are out", session.ErrTooLarge, most, used)
		}
		return startBatch(q, i, min(room, most-used)), unknown, nil
	}
	q.waiting[aPermit] = append(q.waiting[aPermit], c)
	return nil, l.short(), nil
}

// startBatch takes for the contender at an index in places, and for those behind
// it, as far as the room goes. q is locked.
func startBatch(q *localQueue, i, room int) *batch {
	first := q.own[q.places[i].Node]
	b := &batch{s: q.s, q: q, pool: requestOf(first).pool, version: ledgerOf(q).known.version, done: make(chan struct{})}
	size := 0
	for ; i < len(q.places); i++ {
		c := q.own[q.places[i].Node]
		if c == nil || c.permits == nil {
			break
		}
		a := requestOf(c)
		if a.n > room || !a.pool.same(b.pool) {
			break
		}
		size += a.n * (len(c.data) + len(q.dir) + 100)
		if c != first && (!a.waiting || q.places[i].listed == 0 || size > maxBatch) {
			break
		}
		room -= a.n
		a.batch = b
		b.members = append(b.members, c)
		c.wake()
	}
	if !q.s.Spawn(b.run) {
		b.over = true
		for _, c := range b.members {
			requestOf(c).err = session.ErrEnded
		}
		close(b.done)
	}
	return b
}

// await waits for what the batch gives to one of its members. When it returns
// anything but errAskAgain the contender has left the queue, or is leaving it.
func (b *batch) await(ctx context.Context, c *Contender) (Grant, error) {
	select {
	case <-b.done:
	case <-b.s.Ended:
		return Grant{}, session.ErrEnded
	case <-ctx.Done():
		b.q.mu.Lock()
		over := b.over
		requestOf(c).abandoned = true
		b.q.mu.Unlock()
		if over {
			<-b.done
			requestOf(c).undo(c)
		}
		return Grant{}, context.Cause(ctx)
	}
	if err := requestOf(c).err; err != nil {
		if !errors.Is(err, errAskAgain) {
			c.Leave(ctx)
		}
		return Grant{}, err
	}
	return requestOf(c).on, nil
}

// run makes the transaction, again until it is known what came of it. Its
// goroutine belongs to the session.
func (b *batch) run() {
	ctx := b.s.Quit
	var parents session.Parents
	for pace := session.Changed(); ; {
		b.q.mu.Lock()
		present := b.members[:0:0]
		for _, c := range b.members {
			if !requestOf(c).abandoned {
				present = append(present, c)
			}
		}
		b.q.mu.Unlock()
		if len(present) == 0 {
			parents.Unused(b.s)
			b.finish(nil, nil, errAskAgain)
			return
		}
		given, failed, err := b.try(present)
		switch {
		case err == nil:
			b.finish(given, nil, nil)
			return
		case errors.Is(err, zk.ErrNoServer):
			err = b.s.AwaitUp(ctx)
		case errors.Is(err, errNoPermits):
			err = parents.Create(ctx, b.s, b.pool.Path+LeasesDir)
		case session.Answered(err), errors.Is(err, session.ErrNodeGone), errors.Is(err, errAskAgain):
			parents.Unused(b.s)
			if session.Answered(err) && !session.Undone(err) { // whatever has become of it
				b.drop(present, nil)
			}
			b.finish(nil, failed, err)
			return
		default: // the connection broke: the permits may have been taken or not
			if given, err = b.find(ctx, present); err == nil && given != nil {
				b.finish(given, nil, nil)
				return
			}
			if err == nil {
				err = pace.Wait(ctx, b.s)
			}
		}
		if err != nil {
			parents.Unused(b.s)
			b.drop(present, nil)
			b.finish(nil, nil, err)
			return
		}
	}
}

// errNoPermits says that the parent of the permits' nodes is missing.
var errNoPermits = errors.New("no parent for permits")

// given are the nodes that a batch has made, by contender.
type given struct {
	paths map[*Contender][]string
	zxid  int64
}

// operations are those of the transaction, and whose each of them is.
func (b *batch) operations(members []*Contender) (ops []any, whose []*Contender) {
	for _, c := range members {
		for range requestOf(c).n {
			ops = append(ops, &zk.CreateRequest{
				Path: b.pool.Path + LeasesDir + "/" + session.ProtectedName(requestOf(c).guid, Permit), Data: c.data, Acl: c.acl, Flags: zk.FlagEphemeralSequential,
			})
			whose = append(whose, c)
		}
		ops = append(ops, &zk.DeleteRequest{Path: c.path(), Version: -1})
		whose = append(whose, c)
	}
	if b.pool.Count != nil {
		ops = append(ops, &zk.CheckVersionRequest{Path: b.pool.Count.Path, Version: b.version})
		whose = append(whose, nil)
	}
	return ops, whose
}

// try makes the transaction once. When it fails on account of one contender it
// returns that one, too.
func (b *batch) try(members []*Contender) (_ *given, failed *Contender, err error) {
	ops, whose := b.operations(members)
	guid, room := requestOf(members[0]).guid, session.Room{}
	for _, c := range members {
		a := requestOf(c)
		for range a.n {
			room.Add(a.guid, len(b.pool.Path+LeasesDir+"/"+session.ProtectedName(a.guid, Permit))+digits)
		}
	}
	b.s.ExpectZxid(guid)
	var results []zk.MultiResponse
	_, err = b.s.Making(room, func() (permits []string, err error) {
		results, err = session.Ask(b.s, func() ([]zk.MultiResponse, error) { return b.s.Conn.Multi(ops...) })
		for i, c := range whose {
			if err == nil && c != nil && results[i].String != "" {
				permits = append(permits, results[i].String)
			}
		}
		return permits, err
	})
	zxid := b.s.TakeZxid(guid)
	if err != nil {
		i := slices.IndexFunc(results, func(r zk.MultiResponse) bool { return r.Error != nil })
		if i < 0 {
			return nil, nil, err
		}
		_, deletes := ops[i].(*zk.DeleteRequest)
		switch {
		case whose[i] == nil:
			err = errAskAgain // the shared size has changed, or somebody deleted it
		case errors.Is(err, zk.ErrNoNode) && deletes:
			err = session.ErrNodeGone
		case errors.Is(err, zk.ErrNoNode):
			err = errNoPermits
		}
		return nil, whose[i], err
	}
	made := &given{paths: make(map[*Contender][]string), zxid: zxid}
	for i, c := range whose {
		if c != nil && results[i].String != "" {
			made.paths[c] = append(made.paths[c], results[i].String)
		}
	}
	if zxid == 0 { // the reply did not tell
		made.zxid, err = session.Identify(b.s.Quit, b.s, made.paths[members[0]][0])
		if errors.Is(err, session.ErrNodeGone) { // somebody deletes them meanwhile
			b.drop(members, made.paths)
		}
	}
	return made, nil, err
}

// drop deletes the permits that these members may have, of which some paths are known.
func (b *batch) drop(members []*Contender, paths map[*Contender][]string) {
	for _, c := range members {
		b.s.Untrack(paths[c]...)
		session.DeleteByGUID(b.s, b.pool.Path+LeasesDir, requestOf(c).guid, nil)
	}
}

// find looks for what a transaction has made whose reply was lost. It returns nil
// when it was not carried out, and never will be.
func (b *batch) find(ctx context.Context, members []*Contender) (*given, error) {
	dir := b.pool.Path + LeasesDir
	children, err := session.SettledChildren(ctx, b.s, dir)
	if err != nil {
		return nil, err
	}
	made := &given{paths: make(map[*Contender][]string)}
	for _, c := range members {
		for _, child := range children {
			if strings.HasPrefix(child, session.ProtectedName(requestOf(c).guid, "")) {
				made.paths[c] = append(made.paths[c], dir+"/"+child)
			}
		}
	}
	for _, c := range members {
		if paths := made.paths[c]; len(paths) > 0 && made.zxid == 0 {
			made.zxid, err = session.Identify(ctx, b.s, paths[0])
			switch {
			case errors.Is(err, session.ErrNodeGone): // somebody deletes them meanwhile
				b.drop([]*Contender{c}, made.paths)
				made.paths[c] = nil
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

// finish tells the members what has come of the batch: what it has made, or an
// error that one of them is to blame for, or all if that one is nil.
func (b *batch) finish(made *given, blame *Contender, err error) {
	var left []*Contender
	b.q.mu.Lock()
	b.over = true
	for i, c := range b.members {
		a := requestOf(c)
		switch {
		case made == nil && (blame == nil || blame == c):
			if a.err = err; errors.Is(err, errAskAgain) {
				a.batch = nil
			}
		case made == nil:
			a.batch, a.err = nil, errAskAgain
		case len(made.paths[c]) == a.n:
			a.on, a.err = b.grant(c, made.paths[c], made.zxid, int32(i)), nil
		default: // it was left out, or somebody deletes its permits
			a.err = session.ErrNodeGone
			if len(made.paths[c]) > 0 {
				b.drop([]*Contender{c}, made.paths)
			}
		}
		if a.abandoned {
			left = append(left, c)
		}
	}
	if made == nil {
		ledgerOf(b.q).forget() // the shared size may have changed
	}
	b.q.mu.Unlock()
	close(b.done)
	for _, c := range left {
		requestOf(c).undo(c)
	}
}

// grant is what a lease of permits stands on. The local queue is locked.
func (b *batch) grant(c *Contender, paths []string, zxid int64, sub int32) Grant {
	q := b.q
	ledgerOf(q).take(paths, q.applied)
	q.drop(c.Node)
	if q.flight != nil {
		q.left[c.Node] = true
	}
	// The lease may have to wait for a heartbeat: see startHold.
	c.S.Untrack(c.path())
	c.S.Gone(c.path())
	c.S.Track(paths...)
	return Grant{
		S: c.S, Nodes: paths, Zxid: zxid, Sub: sub, Permits: len(paths), Data: c.data,
		Release: func(bool) error {
			c.S.Untrack(paths...)
			q.mu.Lock()
			ledgerOf(q).free(paths)
			q.wake(aPermit)
			q.mu.Unlock()
			err := session.RemoveAllHere(c.S, paths, func(path string) {
				q.mu.Lock()
				defer q.mu.Unlock()
				ledgerOf(q).deleted(path)
			})
			q.exit()
			return err
		},
	}
}
