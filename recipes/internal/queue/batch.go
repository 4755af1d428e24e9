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

// batch is one transaction that gives permits to the contenders of a session at the head of
// a semaphore's queue: to the first and, as far as there is room, to the contenders of the
// session right behind it. For each contender it creates the nodes of its permits and
// deletes its place in the queue. So all are admitted in their order, or none is, even if
// the connection breaks; only the head of the queue ever takes permits; and a whole group
// of contenders takes its permits in one round trip.
type batch struct {
	s       *session.Session
	q       *localQueue
	pool    *Pool
	version int32 // of the shared size that the batch relies on
	members []*Contender
	done    chan struct{}
	over    bool // locked by q, like the members' requests
}

// maxBatch bounds the data of a batch, since servers refuse packets of more than a
// megabyte. The request of a single contender is not cut.
const maxBatch = 100 << 10

// aPermit is the key under which the head of a semaphore's queue waits in the local queue
// while permits of this session are out.
const aPermit = "/"

// ledgerOf returns the session's record of the permits of a queue. The queue is locked.
func ledgerOf(q *localQueue) *ledger {
	if q.memory == nil {
		q.memory = new(ledger)
	}
	return q.memory.(*ledger)
}

// batchOrWait starts a batch for the contender at the head of the queue when the known
// permits leave room. Otherwise it registers the contender to be woken as soon as this
// session gives a permit back.
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
	switch {
	case l.known == nil, l.known.resized && requestOf(c).pool.Count == nil:
		return nil, unknown, nil
	case l.known.resized:
		return nil, ofOldSize, nil
	}
	used, n := l.known.used(), requestOf(c).n
	if room := l.known.size - used; room >= n {
		most := c.S.Listable(len(session.ProtectedName(requestOf(c).guid, Permit)) + digits)
		if used+n > most { // no client could list the permits that are out
			return nil, unknown, fmt.Errorf("%w: a list of permits has room for %d, and %d are out", session.ErrTooLarge, most, used)
		}
		return startBatch(q, i, min(room, most-used)), unknown, nil
	}
	q.waiting[aPermit] = append(q.waiting[aPermit], c)
	return nil, l.short(), nil
}

// startBatch takes permits for the contender at index i in places, and for the contenders
// behind it, as far as there is room. q is locked.
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

// await waits for the permits that the batch gives to one of its members. When it returns
// any error but errAskAgain the contender has left the queue, or is leaving it.
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

// run makes the transaction, again and again until its outcome is known. Its goroutine
// belongs to the session.
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
			if session.Answered(err) && !session.Undone(err) { // it may have been carried out
				b.drop(present, nil)
			}
			b.finish(nil, failed, err)
			return
		default: // the connection broke: the permits may have been taken
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

// errNoPermits means that the parent of the permits' nodes is missing.
var errNoPermits = errors.New("no parent for permits")

// given holds the nodes that a batch has created, by contender.
type given struct {
	paths map[*Contender][]string
	zxid  int64
}

// operations returns the operations of the transaction, and for each the contender that it
// is for.
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

// try makes the transaction once. When it fails because of one contender it returns that
// contender, too.
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
			err = errResized
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
	if zxid == 0 { // the reply had no zxid
		made.zxid, err = session.Identify(b.s.Quit, b.s, made.paths[members[0]][0])
		if errors.Is(err, session.ErrNodeGone) { // another client is deleting them
			b.drop(members, made.paths)
		}
	}
	return made, nil, err
}

// drop deletes the permits that these members may have. The paths of some of them are
// known.
func (b *batch) drop(members []*Contender, paths map[*Contender][]string) {
	for _, c := range members {
		b.s.Untrack(paths[c]...)
		session.DeleteByGUID(b.s, b.pool.Path+LeasesDir, requestOf(c).guid, nil)
	}
}

// find looks for the permits of a transaction whose reply was lost. It returns nil when the
// transaction was not carried out, and never will be.
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
			case errors.Is(err, session.ErrNodeGone): // another client is deleting them
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

// finish tells the members the outcome of the batch: the permits that it has created, or an
// error. The error is the fault of blame, or of all members if blame is nil.
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
		default: // it was left out, or another client is deleting its permits
			a.err = session.ErrNodeGone
			if len(made.paths[c]) > 0 {
				b.drop([]*Contender{c}, made.paths)
			}
		}
		if a.abandoned {
			left = append(left, c)
		}
	}
	if l := ledgerOf(b.q); errors.Is(err, errResized) && l.known != nil {
		l.known.resized = true
	} else if made == nil {
		l.forget()
	}
	b.q.mu.Unlock()
	close(b.done)
	for _, c := range left {
		requestOf(c).undo(c)
	}
}

// grant returns the grant of a lease of permits. The local queue is locked.
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
