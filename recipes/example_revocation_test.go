package recipes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A holder releases its lock when another client asks for it. The request does not force the
// holder.
func ExampleWithRevocation() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	asked := make(chan struct{}, 1)
	background := recipes.NewMutex(client, "/example-revocation",
		recipes.WithData([]byte("the nightly report")),
		recipes.WithRevocation(func(*recipes.Lease) { asked <- struct{}{} }))
	lease, err := background.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	go func() {
		<-asked // now and then between two pieces of work
		fmt.Println("the report makes way")
		if err := lease.Release(ctx); err != nil {
			fmt.Println(err)
		}
	}()

	urgent := recipes.NewMutex(client, "/example-revocation") // in another process
	queue, err := urgent.Participants(ctx)
	if err != nil || len(queue) == 0 {
		fmt.Println("no holder to ask", err)
		return
	}
	fmt.Printf("asks %s\n", queue[0].Data)
	if err := client.Revoke(ctx, queue[0].Node); err != nil {
		fmt.Println(err)
		return
	}
	own, err := urgent.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the urgent one has the lock")
	if err := own.Release(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// asks the nightly report
	// the report makes way
	// the urgent one has the lock
}
