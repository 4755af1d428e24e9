package recipes

import "context"

// NonReentrantMutex is a fair lock that its owner cannot acquire twice. It is Curator's
// InterProcessSemaphoreMutex, on the same paths: a semaphore of size 1. A second acquire, with
// the lease's context or by the same [WithOwner], fails with [ErrAlreadyHeld]; in Curator the
// owner waits for itself.
//
// Its tokens grow from grant to grant. Loss, cancel and timeout: as with [Mutex]. Prefer a Mutex,
// which takes fewer messages.
type NonReentrantMutex struct{ semaphore Semaphore }

// NewNonReentrantMutex returns the lock at path, an absolute ZooKeeper path.
func NewNonReentrantMutex(client *Client, path string, options ...LockOption) *NonReentrantMutex {
	return &NonReentrantMutex{*NewSemaphore(client, path, 1, options...)}
}

// Path returns the lock's path.
func (m *NonReentrantMutex) Path() string { return m.semaphore.path }

// Held reports whether the lock is held through this Client, by any owner.
func (m *NonReentrantMutex) Held() bool { return m.semaphore.Held() }

// Acquire waits for the lock. Errors: those of [Mutex.Acquire], and
// [ErrAlreadyHeld].
func (m *NonReentrantMutex) Acquire(ctx context.Context) (*Lease, error) {
	l, err := m.semaphore.acquire(ctx, 1, true, "")
	if err != nil {
		return nil, m.semaphore.client.failed(ctx, "acquire", m.Path(), err)
	}
	return l, nil
}

// TryAcquire takes the lock if no other contender is ahead, and returns [ErrNotAcquired] if one
// is. Otherwise it is like Acquire.
func (m *NonReentrantMutex) TryAcquire(ctx context.Context) (*Lease, error) {
	l, err := m.semaphore.acquire(ctx, 1, false, "")
	if err != nil {
		return nil, m.semaphore.client.failed(ctx, "try-acquire", m.Path(), err)
	}
	return l, nil
}

// Do acquires the lock, calls f, and releases the lock, as [Mutex.Do] does.
func (m *NonReentrantMutex) Do(ctx context.Context, f func(ctx context.Context, lease *Lease) error) error {
	return do(ctx, m.Acquire, f)
}

// Participants lists the holder and, behind it, the waiting contenders, see
// [Semaphore.Participants].
func (m *NonReentrantMutex) Participants(ctx context.Context) ([]Participant, error) {
	return m.semaphore.Participants(ctx)
}
