package remote

import (
	"context"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// What a client in a worker process offers: every recipe, each in words of the
// protocol. What its target does not have is answered with an error.
var (
	_ lock.Client                = (*Client)(nil)
	_ lock.Reenterer             = (*Client)(nil)
	_ lock.NonReentrantLocker    = (*Client)(nil)
	_ lock.ReadWriteLocker       = (*Client)(nil)
	_ lock.MultiLocker           = (*Client)(nil)
	_ lock.SemaphoreLocker       = (*Client)(nil)
	_ lock.SharedSemaphoreLocker = (*Client)(nil)
	_ lock.RevocableLocker       = (*Client)(nil)
	_ lock.BarrierClient         = (*Client)(nil)
	_ lock.DoubleBarrierClient   = (*Client)(nil)
	_ lock.RevocableLease        = (*remoteLease)(nil)
	_ lock.GuardedLease          = (*remoteLease)(nil)
	_ lock.MultiLease            = (*remoteLease)(nil)
	_ lock.Sessioned             = (*remoteLease)(nil)
)

func (c *Client) Acquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.locker(histories.Mutex, "").Acquire(ctx, name)
}

func (c *Client) TryAcquire(ctx context.Context, name string) (lock.Lease, error) {
	return c.locker(histories.Mutex, "").TryAcquire(ctx, name)
}

func (c *Client) Reenter(ctx context.Context, name string, held lock.Lease) (lock.Lease, error) {
	return c.locker(histories.Mutex, "").Reenter(ctx, name, held)
}

func (c *Client) NonReentrant() lock.Locker { return c.locker(histories.NonReentrant, "") }
func (c *Client) Alone() lock.Locker        { return c.locker(histories.MultiLock, "") }
func (c *Client) Handoff() lock.Locker      { return c.locker(histories.Handoff, "") }

func (c *Client) ReadWrite() (read, write lock.Locker) {
	return c.locker(histories.ReadWrite, histories.ModeRead), c.locker(histories.ReadWrite, histories.ModeWrite)
}

func (c *Client) locker(recipe histories.Recipe, mode histories.Mode) remoteLocker {
	return remoteLocker{c, protocol.Command{Recipe: recipe, Mode: mode}}
}

// remoteLocker gets the locks of one recipe.
type remoteLocker struct {
	c  *Client
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

func (c *Client) AcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return multiLeaseOf(c.acquire(ctx, protocol.Command{Do: string(histories.Acquire), Recipe: histories.MultiLock, Locks: locks}))
}

func (c *Client) TryAcquireAll(ctx context.Context, locks []string) (lock.MultiLease, error) {
	return multiLeaseOf(c.acquire(ctx, protocol.Command{Do: string(histories.TryAcquire), Recipe: histories.MultiLock, Locks: locks}))
}

func multiLeaseOf(l *remoteLease, err error) (lock.MultiLease, error) {
	if err != nil {
		return nil, err
	}
	return l, nil
}

func (c *Client) Semaphore() lock.PermitLocker { return remotePermits{c, histories.Semaphore} }
func (c *Client) SharedSemaphore() lock.SizedLocker {
	return remotePermits{c, histories.SharedSemaphore}
}

// remotePermits gets the permits of one sort of semaphores.
type remotePermits struct {
	c      *Client
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
func (c *Client) operate(ctx context.Context, op histories.Op, what protocol.Command) error {
	what.Do = string(op)
	_, err := c.ask(ctx, what, nil)
	return err
}

func (c *Client) Revocable() lock.RevokerLocker {
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

func (c *Client) SetBarrier(ctx context.Context, name string) error {
	return c.operate(ctx, histories.Set, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (c *Client) RemoveBarrier(ctx context.Context, name string) error {
	return c.operate(ctx, histories.Remove, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (c *Client) WaitBarrier(ctx context.Context, name string) error {
	return c.operate(ctx, histories.Wait, protocol.Command{Recipe: histories.Barrier, Lock: name})
}

func (c *Client) EnterBarrier(ctx context.Context, name string) (lock.Member, error) {
	lease, err := c.acquire(ctx, protocol.Command{Do: string(histories.Enter), Recipe: histories.DoubleBarrier, Lock: name})
	if err != nil {
		return nil, err
	}
	return remoteMember{lease}, nil
}

type remoteMember struct{ *remoteLease }

func (m remoteMember) Leave(ctx context.Context) error {
	defer m.c.connection.forget(m.id)
	return m.c.operate(ctx, histories.Leave, protocol.Command{Recipe: histories.DoubleBarrier, Lease: m.id})
}
