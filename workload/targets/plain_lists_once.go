package targets

import (
	"context"

	"github.com/zkverify/zkverify/workload/lock"
)

// plainListsOnceTarget is plainTarget with a mistake that is often copied: when the node before
// its own is gone, it takes the lock. That node may have been a waiter's, which gave up or
// whose session ended, while the holder still has the lock.
type plainListsOnceTarget struct{ plainTarget }

func (plainListsOnceTarget) Name() string { return "plain-lists-once" }
func (plainListsOnceTarget) Description() string {
	return "plain with a mistake: when the node before its own is gone it takes the lock, without listing the queue again"
}

func (plainListsOnceTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := lock.Connect(ctx, env)
	if err != nil {
		return nil, err
	}
	return &plainClient{Connection: c, listsOnce: true}, nil
}
