package recipes

import "github.com/zkverify/zkverify/recipes/internal/queue"

// ReadWriteMutex admits any number of readers or one writer: Curator's InterProcessReadWriteLock,
// on the same path. A reader that joins the queue behind a waiting writer waits for the writer.
//
// Both sides are reentrant. The owner of the write lock may acquire the read lock, with the context
// of its lease or by [WithOwner], and gets it at once. When it then releases the write lock it
// keeps the read lock, and writers that queued meanwhile stay behind it (CURATOR-621; Curator
// before 5.5 admits them). The read lock is granted by a node that is created only if the writer's
// node exists, never by this process's memory. The reverse is refused: a reader that asks for the
// write lock would wait for itself, and gets [ErrUpgrade] at once.
//
// Tokens: the token of a writer is greater than those of all leases granted before it. The token of
// a reader has the order in which the reader joined the queue; after a downgrade it is the writer's
// token with the next greater Sub.
type ReadWriteMutex struct {
	read, write Mutex
}

// NewReadWriteMutex returns the read-write lock at path.
func NewReadWriteMutex(client *Client, path string, options ...LockOption) *ReadWriteMutex {
	side := Mutex{client: client, path: client.resolve(path), kinds: queue.ReadWrites, cfg: newLockConfig(client, "ReadWriteMutex", options)}
	rw := &ReadWriteMutex{read: side, write: side}
	rw.read.kind, rw.read.rule = queue.Read, queue.Shared
	rw.write.kind, rw.write.rule = queue.Write, queue.Exclusive
	return rw
}

// Read returns the read lock, which any number of owners may hold at a time.
func (rw *ReadWriteMutex) Read() *Mutex { return &rw.read }

// Write returns the write lock, which one owner holds alone.
func (rw *ReadWriteMutex) Write() *Mutex { return &rw.write }
