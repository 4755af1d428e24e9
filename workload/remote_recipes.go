package workload

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// What a client in a worker process offers: every recipe, each in words of the
// protocol. What its target does not have is answered with an error.
var (
	_ Client                = (*remoteClient)(nil)
	_ Reenterer             = (*remoteClient)(nil)
	_ NonReentrantLocker    = (*remoteClient)(nil)
	_ ReadWriteLocker       = (*remoteClient)(nil)
	_ MultiLocker           = (*remoteClient)(nil)
	_ SemaphoreLocker       = (*remoteClient)(nil)
	_ SharedSemaphoreLocker = (*remoteClient)(nil)
	_ RevocableLocker       = (*remoteClient)(nil)
	_ BarrierClient         = (*remoteClient)(nil)
	_ DoubleBarrierClient   = (*remoteClient)(nil)
	_ RevocableLease        = (*remoteLease)(nil)
	_ GuardedLease          = (*remoteLease)(nil)
	_ MultiLease            = (*remoteLease)(nil)
	_ Sessioned             = (*remoteLease)(nil)
)

func (c *remoteClient) Acquire(ctx context.Context, lock string) (Lease, error) {
	return c.locker(histories.Mutex, "").Acquire(ctx, lock)
}

func (c *remoteClient) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return c.locker(histories.Mutex, "").TryAcquire(ctx, lock)
}

func (c *remoteClient) Reenter(ctx context.Context, lock string, held Lease) (Lease, error) {
	return c.locker(histories.Mutex, "").Reenter(ctx, lock, held)
}

func (c *remoteClient) NonReentrant() Locker { return c.locker(histories.NonReentrant, "") }
func (c *remoteClient) Alone() Locker        { return c.locker(histories.MultiLock, "") }
func (c *remoteClient) Handoff() Locker      { return c.locker(histories.Handoff, "") }

func (c *remoteClient) ReadWrite() (read, write Locker) {
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

func (r remoteLocker) get(ctx context.Context, do, lock string, held Lease) (Lease, error) {
	what := r.of
	what.Do, what.Lock = do, lock
	if l, ok := held.(*remoteLease); ok {
		what.Lease = l.id
	}
	return leaseOf(r.c.acquire(ctx, what))
}

// leaseOf makes no Lease of a nil pointer.
func leaseOf(l *remoteLease, err error) (Lease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (r remoteLocker) Acquire(ctx context.Context, lock string) (Lease, error) {
	return r.get(ctx, string(histories.Acquire), lock, nil)
}

func (r remoteLocker) TryAcquire(ctx context.Context, lock string) (Lease, error) {
	return r.get(ctx, string(histories.TryAcquire), lock, nil)
}

func (r remoteLocker) Reenter(ctx context.Context, lock string, held Lease) (Lease, error) {
	return r.get(ctx, protocol.DoReenter, lock, held)
}

func (c *remoteClient) AcquireAll(ctx context.Context, locks []string) (MultiLease, error) {
	return multiLeaseOf(c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: histories.MultiLock, Locks: locks}))
}

func (c *remoteClient) TryAcquireAll(ctx context.Context, locks []string) (MultiLease, error) {
	return multiLeaseOf(c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: histories.MultiLock, Locks: locks}))
}

func multiLeaseOf(l *remoteLease, err error) (MultiLease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c *remoteClient) Semaphore() PermitLocker { return remotePermits{c, histories.Semaphore} }
func (c *remoteClient) SharedSemaphore() SizedLocker {
	return remotePermits{c, histories.SharedSemaphore}
}

// remotePermits gets the permits of one sort of semaphores.
type remotePermits struct {
	c      *remoteClient
	recipe histories.Recipe
}

func (p remotePermits) AcquireN(ctx context.Context, lock string, n int) (Lease, error) {
	return leaseOf(p.c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: p.recipe, Lock: lock, Permits: n}))
}

func (p remotePermits) TryAcquireN(ctx context.Context, lock string, n int) (Lease, error) {
	return leaseOf(p.c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: p.recipe, Lock: lock, Permits: n}))
}

func (p remotePermits) SetSize(ctx context.Context, lock string, size int) error {
	return p.c.operate(ctx, histories.SetSize, protocol.Command{Recipe: p.recipe, Lock: lock, Size: size})
}

// operate sends a command that is answered with no more than an error.
func (c *remoteClient) operate(ctx context.Context, op histories.Op, what protocol.Command) error {
	what.Do = string(op)
	_, err := c.ask(ctx, what, nil)
	return err
}

func (c *remoteClient) Revocable() RevokerLocker {
	return remoteRevocable{c.locker(histories.Revocation, "")}
}

type remoteRevocable struct{ remoteLocker }

func (r remoteRevocable) Holder(ctx context.Context, lock string) (histories.Token, string, error) {
	l, err := r.c.ask(ctx, protocol.Command{Do: protocol.DoHolder, Recipe: histories.Revocation, Lock: lock}, nil)
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

func (c *remoteClient) EnterBarrier(ctx context.Context, name string) (Member, error) {
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
