package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// The state that a lock protects is kept in ZooKeeper too. A write that goes
// through while the lock is held needs no token: the servers check the lock node
// in the same transaction.
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
	_, err = lease.Multi(ctx, &zk.SetDataRequest{Path: state, Data: []byte("busy"), Version: -1})
	fmt.Println("while it holds the lock:", err)

	// An administrator frees the lock by hand.
	if err := client.Conn().Delete(lease.Node(), -1); err != nil {
		fmt.Println(err)
		return
	}
	_, err = lease.Multi(ctx, &zk.SetDataRequest{Path: state, Data: []byte("done"), Version: -1})
	fmt.Println("after that, refused:", errors.Is(err, recipes.ErrLeaseLost))

	data, _, err := client.Conn().Get(state)
	fmt.Printf("the state is %q, %v\n", data, err)
	// Output:
	// while it holds the lock: <nil>
	// after that, refused: true
	// the state is "busy", <nil>
}
