package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// What a client in a worker process offers: every recipe, each in words of the
// protocol. What its target does not have is answered with an error.
var (
	_ lock.Client                = (*remoteClient)(nil)
	_ lock.Reenterer             = (*remoteClient)(nil)
	_ lock.NonReentrantLocker    = (*remoteClient)(nil)
	_ lock.ReadWriteLocker       = (*remoteClient)(nil)
	_ lock.MultiLocker           = (*remoteClient)(nil)
	_ lock.SemaphoreLocker       = (*remoteClient)(nil)
	_ lock.SharedSemaphoreLocker = (*remoteClient)(nil)
	_ lock.RevocableLocker       = (*remoteClient)(nil)
	_ lock.BarrierClient         = (*remoteClient)(nil)
	_ lock.DoubleBarrierClient   = (*remoteClient)(nil)
	_ lock.RevocableLease        = (*remoteLease)(nil)
	_ lock.GuardedLease          = (*remoteLease)(nil)
	_ lock.MultiLease            = (*remoteLease)(nil)
	_ lock.Sessioned             = (*remoteLease)(nil)
)

func (c *remoteClient) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.locker(histories.Mutex, "").Acquire(ctx, name)
}

func (c *remoteClient) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.locker(histories.Mutex, "").TryAcquire(ctx, name)
}

func (c *remoteClient) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	return c.locker(histories.Mutex, "").Reenter(ctx, name, held)
}

func (c *remoteClient) NonReentrant() lock.Locker { return c.locker(histories.NonReentrant, "") }
func (c *remoteClient) Alone() lock.Locker        { return c.locker(histories.MultiLock, "") }
func (c *remoteClient) Handoff() lock.Locker      { return c.locker(histories.Handoff, "") }

func (c *remoteClient) ReadWrite() (read, write lock.Locker) {
	return c.locker(histories.ReadWrite, histories.ModeRead), c.locker(histories.ReadWrite, histories.ModeWrite)
}

func (c *remoteClient) locker(recipe histories.Recipe, mode histories.Mode) remoteLocker {
	return remoteLocker{c, protocol.Command{Recipe: recipe, Mode: mode}}
}

// remoteLocker gets the locks of one recipe.
type remoteLocker struct {
	c  *remoteClient
	of protocol.Command // with the recipe, and the mode if there are modes
}

func (r remoteLocker) get(ctx context.Context, do, name string, held lock.Lease) (lock.Lease, error) {
	what := r.of
	what.Do, what.Lock = do, name
	if l, ok := held.(*remoteLease); ok {
		what.Lease = l.id
	}
	return leaseOf(r.c.acquire(ctx, what))
}

// leaseOf makes no Lease of a nil pointer.
func leaseOf(l *remoteLease, err error) (lock.Lease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (r remoteLocker) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return r.get(ctx, string(histories.Acquire), name, nil)
}

func (r remoteLocker) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return r.get(ctx, string(histories.TryAcquire), name, nil)
}

func (r remoteLocker) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	return r.get(ctx, protocol.DoReenter, name, held)
}

func (c *remoteClient) AcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return multiLeaseOf(c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: histories.MultiLock, Locks: locks}))
}

func (c *remoteClient) TryAcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return multiLeaseOf(c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: histories.MultiLock, Locks: locks}))
}

func multiLeaseOf(l *remoteLease, err error) (lock.MultiLease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c *remoteClient) Semaphore() lock.PermitLocker { return remotePermits{c, histories.Semaphore} }
func (c *remoteClient) SharedSemaphore() lock.SizedLocker {
	return remotePermits{c, histories.SharedSemaphore}
}

// remotePermits gets the permits of one sort of semaphores.
type remotePermits struct {
	c      *remoteClient
	recipe histories.Recipe
}

func (p remotePermits) AcquireN(ctx context.Context, name string, n int) (lock.Lease, error) {
	return leaseOf(p.c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: p.recipe, Lock: name, Permits: n}))
}

func (p remotePermits) TryAcquireN(ctx context.Context, name string, n int) (lock.Lease, error) {
	return leaseOf(p.c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: p.recipe, Lock: name, Permits: n}))
}

func (p remotePermits) SetSize(ctx context.Context, name string, size int) error {
	return p.c.operate(ctx, histories.SetSize, protocol.Command{Recipe: p.recipe, Lock: name, Size: size})
}

// operate sends a command that is answered with no more than an error.
func (c *remoteClient) operate(ctx context.Context, op histories.Op, what protocol.Command) error {
	what.Do = string(op)
	_, err := c.ask(ctx, what, nil)
	return err
}

func (c *remoteClient) Revocable() lock.RevokerLocker {
	return remoteRevocable{c.locker(histories.Revocation, "")}
}

type remoteRevocable struct{ remoteLocker }

func (r remoteRevocable) Holder(ctx context.Context, name string) (histories.Token, string, error) {
	l, err := r.c.ask(ctx, protocol.Command{Do: protocol.DoHolder, Recipe: histories.Revocation, Lock: name}, nil)
	return l.Token, l.Node, err
}

func (r remoteRevocable) Revoke(ctx context.Context, node string) error {
	return r.c.operate(ctx, histories.Revoke, protocol.Command{Recipe: histories.Revocation, Node: node})
}

func (c *remoteClient) SetBarrier(ctx context.Context, name string) error {
	return c.operate(ctx, histories.Set, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (c *remoteClient) RemoveBarrier(ctx context.Context, name string) error {
	return c.operate(ctx, histories.Remove, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (c *remoteClient) WaitBarrier(ctx context.Context, name string) error {
	return c.operate(ctx, histories.Wait, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (c *remoteClient) EnterBarrier(ctx context.Context, name string) (lock.Member, error) {
	lease, err := c.acquire(ctx, protocol.Command{Do: string(histories.Enter), Recipe: histories.DoubleBarrier, Lock: name})
	if err != nil {
		return nil, err
	}
	return remoteMember{lease}, nil
}

type remoteMember struct{ *remoteLease }

func (m remoteMember) Leave(ctx context.Context) error {
	defer m.c.talk.forget(m.id)
	return m.c.operate(ctx, histories.Leave, protocol.Command{Recipe: histories.DoubleBarrier, Lease: m.id})
}
