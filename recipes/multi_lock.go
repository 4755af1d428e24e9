package recipes

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/recipes/internal/queue"
	"github.com/zkverify/zkverify/recipes/internal/session"
)

// Lock is a lock that can be part of a [MultiLock]: a [Mutex] or one side of a [ReadWriteMutex], or
// a [Semaphore] (one permit). Only this package's locks implement it.
type Lock interface {
	Acquire(ctx context.Context) (*Lease, error)
	TryAcquire(ctx context.Context) (*Lease, error)
	Path() string

	of() *Client
}

func (m *Mutex) of() *Client     { return m.client }
func (s *Semaphore) of() *Client { return s.client }

// MultiLock is a set of locks that are held together: Curator's InterProcessMultiLock. It takes all
// of them or none.
//
// Two multi-locks never wait for each other, even if their locks were given in different orders:
// the nodes in all queues are created in ONE transaction, so every queue has them in the same
// order. Semaphores, whose grants depend on more than a queue, are acquired after these, one by one
// in the order of their paths; when a lock is lost meanwhile, all are acquired anew. Locks that the
// owner already holds are re-entered; a set that is acquired piece by piece in this way can
// deadlock with another set, as Curator's multi-locks can. The context bounds the whole acquire.
type MultiLock struct {
	locks []Lock
}

// NewMultiLock returns the multi-lock of these locks. There must be at least one; all must belong
// to one Client and have different paths.
func NewMultiLock(locks ...Lock) *MultiLock {
	return &MultiLock{locks: slices.Clone(locks)}
}

// Paths returns the paths of the locks, in the order of NewMultiLock.
func (m *MultiLock) Paths() []string {
	var paths []string
	for _, l := range m.locks {
		paths = append(paths, l.Path())
	}
	return paths
}

// Acquire waits for all locks. Before it returns an error it releases the locks that it had
// acquired and waits until their nodes are gone, or until ctx ends: the client goes on in the
// background. The errors are those of the locks' own Acquire, and [ErrBadLocks].
func (m *MultiLock) Acquire(ctx context.Context) (*MultiLease, error) {
	l, err := m.acquire(ctx, true)
	if err != nil {
		return nil, m.failed(ctx, "acquire", err)
	}
	return l, nil
}

// TryAcquire takes all locks if no other contender is ahead in any of their queues, and returns
// [ErrNotAcquired] if one is. Otherwise it is like Acquire.
func (m *MultiLock) TryAcquire(ctx context.Context) (*MultiLease, error) {
	l, err := m.acquire(ctx, false)
	if err != nil {
		return nil, m.failed(ctx, "try-acquire", err)
	}
	return l, nil
}

// Do acquires the locks, calls f, and releases them, as [Mutex.Do] does.
func (m *MultiLock) Do(ctx context.Context, f func(ctx context.Context, lease *MultiLease) error) error {
	return do(ctx, m.Acquire, f)
}

// failed adds the call and the locks' paths to err.
func (m *MultiLock) failed(ctx context.Context, op string, err error) error {
	paths := strings.Join(m.Paths(), ", ")
	client, _, bad := m.check()
	if bad != nil {
		return opError(op, paths, err)
	}
	return client.failed(ctx, op, paths, err)
}

// check returns the client of the locks and the locks in the order of their paths, or
// ErrBadLocks.
func (m *MultiLock) check() (*Client, []Lock, error) {
	if len(m.locks) == 0 {
		return nil, nil, fmt.Errorf("%w: it is empty", ErrBadLocks)
	}
	sorted := slices.SortedFunc(slices.Values(m.locks), func(a, b Lock) int { return cmp.Compare(a.Path(), b.Path()) })
	for i, l := range sorted {
		if l.of() != sorted[0].of() {
			return nil, nil, fmt.Errorf("%w: they belong to several clients", ErrBadLocks)
		}
		if i > 0 && l.Path() == sorted[i-1].Path() {
			return nil, nil, fmt.Errorf("%w: %s is in it twice", ErrBadLocks, l.Path())
		}
	}
	return sorted[0].of(), sorted, nil
}

func (m *MultiLock) acquire(ctx context.Context, block bool) (*MultiLease, error) {
	asked := time.Now()
	client, sorted, err := m.check()
	if err != nil {
		return nil, err
	}
	o := ownerOf(ctx)
	if o.id == "" { // one owner for all
		o.id = session.NewGUID()
	}
	ctx = context.WithValue(ctx, ownerKey{}, o)
	for {
		leases, err := m.take(ctx, client, sorted, o, block, asked)
		if err == errPartLost {
			continue // or it fails, if ctx has ended
		}
		if err != nil {
			return nil, err
		}
		var all []*Lease
		for _, l := range m.locks {
			all = append(all, leases[l.Path()])
		}
		return newMultiLease(ctx, o, all), nil
	}
}

// errPartLost ends the wait for one lock because another one was lost meanwhile. Without both there is
// no hold: all are acquired anew.
var errPartLost = fmt.Errorf("%w: one of several locks", ErrLeaseLost)

// take makes one attempt to get leases of all locks, by path. With an error it has none.
func (m *MultiLock) take(ctx context.Context, client *Client, sorted []Lock, o owner, block bool, asked time.Time) (_ map[string]*Lease, err error) {
	leases := make(map[string]*Lease)
	defer func() {
		if err != nil {
			giveBack(ctx, leases)
		}
	}()
	fresh, told := make(map[ownership]*Mutex), make(toldOf) // to be enqueued together
	holds := make(map[ownership]*hold)
	defer func() {
		told.gaveUp(err)
		for key := range fresh {
			client.holds.settle(key, holds[key])
		}
	}()
	apart, err := m.sortOut(ctx, client, sorted, o, leases, fresh)
	if err != nil {
		return nil, err
	}
	if len(fresh) > 0 {
		_, err := client.inSession(ctx, func(s *session.Session) (*hold, error) {
			clear(holds)
			told.acquiring(ctx, fresh, asked)
			return nil, m.contend(ctx, s, fresh, holds, told, block, asked)
		})
		if err != nil {
			clear(holds)
			return nil, err
		}
		for key, h := range holds {
			leases[key.path] = h.outermost
		}
	}
	return leases, oneByOne(ctx, apart, leases, block)
}

// oneByOne acquires locks one after the other, and adds their leases to leases. It returns errPartLost when
// a lease among those is lost before it has them all.
func oneByOne(ctx context.Context, locks []Lock, leases map[string]*Lease, block bool) error {
	one := Lock.Acquire
	if !block {
		one = Lock.TryAcquire
	}
	while, end := context.WithCancelCause(ctx)
	defer end(nil)
	for _, l := range leases {
		defer context.AfterFunc(l.Context(), func() { end(errPartLost) })()
	}
	for _, l := range locks {
		lease, err := one(l, while)
		if err != nil {
			if context.Cause(while) == errPartLost {
				return errPartLost
			}
			return err
		}
		leases[l.Path()] = lease
		defer context.AfterFunc(lease.Context(), func() { end(errPartLost) })()
	}
	for _, l := range leases {
		if len(locks) > 0 && l.Context().Err() != nil {
			return errPartLost
		}
	}
	return nil
}

// sortOut re-enters the locks that the owner o holds, and adds their leases to leases. It adds
// the mutexes that are to be enqueued together to fresh, and returns the locks that are to be
// acquired one by one.
func (m *MultiLock) sortOut(ctx context.Context, client *Client, sorted []Lock, o owner, leases map[string]*Lease, fresh map[ownership]*Mutex) (apart []Lock, err error) {
	for _, l := range sorted {
		mutex, ok := l.(*Mutex)
		if !ok || mutex.kind == queue.Read && client.holds.find(ownership{mutex.path, o.id, queue.Write}) != nil {
			apart = append(apart, l)
			continue
		}
		key, err := client.begin(ctx, mutex.cfg, mutex.path, mutex.kind)
		if err != nil {
			return nil, err
		}
		held, err := client.holds.enter(ctx, key)
		switch {
		case err != nil:
			return nil, err
		case held != nil:
			leases[mutex.path] = held
		default:
			fresh[key] = mutex
		}
	}
	return apart, nil
}

// giveBack releases leases at the same time, and waits for the releases until ctx ends.
func giveBack(ctx context.Context, leases map[string]*Lease) {
	paths := slices.Sorted(maps.Keys(leases))
	for _, path := range paths {
		leases[path].start()
	}
	for _, path := range paths {
		_ = leases[path].Release(ctx) // the error that ended the acquire is the one to return (CURATOR-41)
	}
}

// contend makes one attempt, in one session, to get the holds of these mutexes.
func (m *MultiLock) contend(ctx context.Context, s *session.Session, mutexes map[ownership]*Mutex, holds map[ownership]*hold, told toldOf, block bool, asked time.Time) (err error) {
	keys := slices.SortedFunc(maps.Keys(mutexes), func(a, b ownership) int {
		return cmp.Or(strings.Compare(a.path, b.path), strings.Compare(a.kind, b.kind))
	})
	all := make([]*queue.Contender, len(keys)) // in the order of keys
	for i, key := range keys {
		all[i] = queue.NewContender(s, mutexes[key].entry())
	}
	if err := queue.EnqueueTogether(ctx, s, all); err != nil {
		return err
	}
	defer func() {
		if err == nil {
			return
		}
		taken := make(map[string]*Lease)
		var left []<-chan struct{}
		for i, c := range all {
			if h := holds[keys[i]]; h != nil {
				taken[keys[i].path] = h.outermost
				continue
			}
			left = append(left, c.LeaveInBackground())
		}
		clear(holds)
		giveBack(ctx, taken)
		for _, done := range left {
			select {
			case <-done:
			case <-ctx.Done():
			}
		}
	}()
	for i, c := range all {
		mutexes[keys[i]].client.announce(told[keys[i]].ctx, keys[i].path, c, Token{Zxid: c.Zxid})
	}
	for begun := all[0].S.Now(); ; begun = all[0].S.Now() {
		for _, c := range all {
			if err := c.Wait(ctx, block); err != nil {
				return err
			}
		}
		if all[0].S.Now().Sub(begun) <= all[0].TurnLasts() {
			break // it is now the turn of each contender
		}
	}
	for i, c := range all {
		key := keys[i]
		h, err := mutexes[key].client.startHold(told[key].ctx, c.Grant(), key, mutexes[key].cfg.revoked, asked)
		if err != nil {
			return err
		}
		delete(told, key) // from here on the observer is told of its grant
		holds[key] = h
	}
	return nil
}

// toldOf holds the locks of a multi-lock that the observer knows to be contending: it has been
// told Acquiring, and neither Acquired nor GaveUp.
type toldOf map[ownership]telling

type telling struct {
	ctx    context.Context // the context that the observer returned
	gaveUp func(error)
}

// acquiring tells the observer of the mutexes that it has not been told of yet. A mutex that was
// granted in an earlier attempt and given back counts as a new acquire.
func (t toldOf) acquiring(ctx context.Context, mutexes map[ownership]*Mutex, asked time.Time) {
	for key, m := range mutexes {
		if _, told := t[key]; !told {
			ctx, gaveUp := m.client.acquiring(ctx, m.path, m.recipe(), asked)
			t[key] = telling{ctx, gaveUp}
		}
	}
}

// gaveUp tells the observer that the acquire has ended with an error, or nil.
func (t toldOf) gaveUp(err error) {
	for _, telling := range t {
		telling.gaveUp(err)
	}
}
