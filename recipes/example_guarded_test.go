package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// set writes under the lease. When the answer is lost it writes again, which does no harm here
// because the value is the same.
func set(ctx context.Context, lease *recipes.Lease, path, value string) error {
	for {
		_, err := lease.Multi(ctx, &zk.SetDataRequest{Path: path, Data: []byte(value), Version: -1})
		if !errors.Is(err, recipes.ErrOutcomeUnknown) || !lease.Valid() || ctx.Err() != nil {
			return err
		}
	}
}

// The state that a lock protects is kept in ZooKeeper too. Such a write needs no token: the
// servers check the lock node in the same transaction.
func ExampleLease_Multi() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	state := "/example-guarded-state"
	_, err = client.Conn().Create(state, []byte("idle"), 0, zk.WorldACL(zk.PermAll))
	if err != nil {
		fmt.Println(err)
		return
	}

	lease, err := recipes.NewMutex(client, "/example-guarded").Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("while it holds the lock:", set(ctx, lease, state, "busy"))

	// An administrator frees the lock by hand.
	if err := client.Conn().Delete(lease.Node(), -1); err != nil {
		fmt.Println(err)
		return
	}
	err = set(ctx, lease, state, "done")
	fmt.Println("after that, refused:", errors.Is(err, recipes.ErrLeaseLost))

	data, _, err := client.Conn().Get(state)
	fmt.Printf("the state is %q, %v\n", data, err)
	// Output:
	// while it holds the lock: <nil>
	// after that, refused: true
	// the state is "busy", <nil>
}
