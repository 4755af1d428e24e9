package recipes_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Workers pause while the schema of their database is changed.
func ExampleBarrier() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	maintenance := recipes.NewBarrier(client, "/example-barrier/maintenance")
	if err := maintenance.Set(ctx); err != nil {
		fmt.Println(err)
		return
	}

	var changed sync.Once
	var workers sync.WaitGroup
	for range 3 {
		workers.Go(func() { // in processes of their own, with clients of their own
			if err := maintenance.Wait(ctx); err != nil {
				fmt.Println(err)
				return
			}
			changed.Do(func() { fmt.Println("a worker was here before the change") })
		})
	}

	changed.Do(func() { fmt.Println("the schema is changed") })
	if err := maintenance.Remove(ctx); err != nil {
		fmt.Println(err)
		return
	}
	workers.Wait()
	fmt.Println("all workers go on")
	// Output:
	// the schema is changed
	// all workers go on
}
