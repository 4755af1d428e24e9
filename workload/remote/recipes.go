package remote

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// recipes implements all recipes for a client in a worker process, each by commands of the
// protocol. A recipe that its target does not offer is answered with an error. Locks that are
// acquired and released one by one need only the name of their recipe: only recipes with
// operations of their own have methods here.
type recipes struct{ locker } // of the mutex

var (
	_ lock.Client                = (*Client)(nil)
	_ lock.Reenterer             = (*Client)(nil)
	_ lock.ByName                = (*Client)(nil)
	_ lock.MultiLocker           = (*Client)(nil)
	_ lock.SemaphoreLocker       = (*Client)(nil)
	_ lock.SharedSemaphoreLocker = (*Client)(nil)
	_ lock.RevocableLocker       = (*Client)(nil)
	_ lock.ElectionLocker        = (*Client)(nil)
	_ lock.BarrierClient         = (*Client)(nil)
	_ lock.DoubleBarrierClient   = (*Client)(nil)
	_ lock.RevocableLease        = (*lease)(nil)
	_ lock.GuardedLease          = (*lease)(nil)
	_ lock.MultiLease            = (*lease)(nil)
	_ lock.Sessioned             = (*lease)(nil)
)

func (r recipes) LockerByName(recipe histories.Recipe, mode histories.Mode) lock.Locker {
	return r.c.locker(recipe, mode)
}

func (r recipes) Alone() lock.Locker { return r.c.locker(histories.MultiLock, "") }

func (c *Client) locker(recipe histories.Recipe, mode histories.Mode) locker {
	return locker{c, protocol.Command{Recipe: recipe, Mode: mode}}
}

// locker acquires the locks of one recipe.
type locker struct {
	c    *Client
	base protocol.Command // with the recipe, and the mode if there are modes
}

func (r locker) get(ctx context.Context, do, name string, held lock.Lease) (lock.Lease, error) {
	what := r.base
	what.Do, what.Lock = do, name
	if l, ok := held.(*lease); ok {
		what.Lease = l.id
	}
	return lock.AsLease(r.c.acquire(ctx, what))
}

func (r locker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return r.get(ctx, string(histories.Acquire), name, nil)
}

func (r locker) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return r.get(ctx, string(histories.TryAcquire), name, nil)
}

func (r locker) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	return r.get(ctx, protocol.DoReenter, name, held)
}

func (r recipes) AcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return multiLeaseOf(r.c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: histories.MultiLock, Locks: locks}))
}

func (r recipes) TryAcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return multiLeaseOf(r.c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: histories.MultiLock, Locks: locks}))
}

func multiLeaseOf(l *lease, err error) (lock.MultiLease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (r recipes) Semaphore() lock.PermitLocker { return permits{r.c, histories.Semaphore} }
func (r recipes) SharedSemaphore() lock.SizedLocker {
	return permits{r.c, histories.SharedSemaphore}
}

// permits acquires the permits of one kind of semaphore.
type permits struct {
	c      *Client
	recipe histories.Recipe
}

func (p permits) AcquireN(ctx context.Context, name string, n int) (lock.Lease, error) {
	return lock.AsLease(p.c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: p.recipe, Lock: name, Permits: n}))
}

func (p permits) TryAcquireN(ctx context.Context, name string, n int) (lock.Lease, error) {
	return lock.AsLease(p.c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: p.recipe, Lock: name, Permits: n}))
}

func (p permits) SetSize(ctx context.Context, name string, size int) error {
	return p.c.operate(ctx, histories.SetSize, protocol.Command{Recipe: p.recipe, Lock: name, Size: size})
}

// operate sends a command whose answer has at most an error.
func (c *Client) operate(ctx context.Context, op histories.Op, what protocol.Command) error {
	what.Do = string(op)
	_, err := c.ask(ctx, what, nil)
	return err
}

func (r recipes) Revocable() lock.RevokerLocker {
	return revocable{r.c.locker(histories.Revocation, "")}
}

type revocable struct{ locker }

func (r revocable) Holder(ctx context.Context, name string) (histories.Token, string, error) {
	l, err := r.c.ask(ctx, protocol.Command{Do: protocol.DoHolder, Recipe: histories.Revocation, Lock: name}, nil)
	return l.Token, l.Node, err
}

func (r revocable) Revoke(ctx context.Context, node string) error {
	return r.c.operate(ctx, histories.Revoke, protocol.Command{Recipe: histories.Revocation, Node: node})
}

func (r recipes) SetBarrier(ctx context.Context, name string) error {
	return r.c.operate(ctx, histories.Set, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (r recipes) RemoveBarrier(ctx context.Context, name string) error {
	return r.c.operate(ctx, histories.Remove, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (r recipes) WaitBarrier(ctx context.Context, name string) error {
	return r.c.operate(ctx, histories.Wait, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (r recipes) EnterBarrier(ctx context.Context, name string) (lock.Member, error) {
	lease, err := r.c.acquire(ctx, protocol.Command{Do: string(histories.Enter), Recipe: histories.DoubleBarrier, Lock: name})
	if err != nil {
		return nil, err
	}
	return member{lease}, nil
}

type member struct{ *lease }

func (m member) Leave(ctx context.Context) error {
	defer m.c.connection.forget(m.id)
	return m.c.operate(ctx, histories.Leave, protocol.Command{Recipe: histories.DoubleBarrier, Lease: m.id})
}
