package recipes

import "github.com/zkverify/zkverify/recipes/internal/queue"

// ReadWriteMutex admits any number of readers or one writer: Curator's
// InterProcessReadWriteLock, on the same path. It is fair: a reader that comes
// after a waiting writer waits for it.
//
// Both sides are reentrant. The owner of the write lock may acquire the read
// lock, with the context of its lease or by its name, and has it at once; when
// it then releases the write lock it goes on reading, and writers that queued
// meanwhile stay behind it (CURATOR-621; Curator before 5.5 admits them). The
// read lock is granted by a node that exists only if the writer's did, never by
// what this process remembers of a session that may be gone. The other way is
// closed: a reader that asks for the write lock would wait for itself, and is
// refused with [ErrUpgrade] at once.
//
// Tokens: every writer's is greater than those of all leases granted before it.
// A reader's says when it queued; one that came by a downgrade has its writer's,
// with the next greater Sub.
//
// Loss, cancel, timeout and misuse: as with [Mutex].
type ReadWriteMutex struct {
	read, write Mutex
}

// NewReadWriteMutex returns the read-write lock at path, an absolute ZooKeeper
// path that should have no children but contenders. Missing parents are created
// as containers.
func NewReadWriteMutex(client *Client, path string, options ...LockOption) *ReadWriteMutex {
	side := Mutex{client: client, path: client.resolve(path), kinds: queue.ReadWrites, cfg: newLockConfig(client, options)}
	rw := &ReadWriteMutex{read: side, write: side}
	rw.read.kind, rw.read.rule = queue.Read, queue.Shared
	rw.write.kind, rw.write.rule = queue.Write, queue.Exclusive
	return rw
}

// Read returns the side that any number may hold at a time.
func (rw *ReadWriteMutex) Read() *Mutex { return &rw.read }

// Write returns the side that excludes everybody else.
func (rw *ReadWriteMutex) Write() *Mutex { return &rw.write }
