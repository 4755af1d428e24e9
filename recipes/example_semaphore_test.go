package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A database allows four connections in all. A worker that needs three takes them together, so
// two such workers never hold one or two connections each and wait for the other's.
func ExampleSemaphore_AcquireN() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var mu sync.Mutex
	open, most := 0, 0
	var all sync.WaitGroup
	for range 5 {
		client, err := recipes.Connect(ctx, addrs()) // in each process
		if err != nil {
			fmt.Println(err)
			return
		}
		defer client.Close(ctx)
		connections := recipes.NewSemaphore(client, "/example-semaphore", 4)
		all.Go(func() {
			lease, err := connections.AcquireN(ctx, 3)
			if err != nil {
				fmt.Println(err)
				return
			}
			defer lease.Release(ctx)
			mu.Lock()
			open += lease.Permits()
			most = max(most, open)
			mu.Unlock()
			// work
			mu.Lock()
			open -= lease.Permits()
			mu.Unlock()
		})
	}
	all.Wait()
	fmt.Println("at most", most, "connections were open")
	// Output: at most 3 connections were open
}

// The size is a number that all clients see, and may be changed while they work.
func ExampleNewSharedSemaphore() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	size := recipes.NewSharedCount(client, "/example-shared-semaphore/size", 1)
	slots := recipes.NewSharedSemaphore(client, "/example-shared-semaphore/slots", size)
	first, err := slots.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	_, err = slots.TryAcquire(ctx)
	fmt.Println("one of one is taken:", errors.Is(err, recipes.ErrNotAcquired))

	if err := size.Set(ctx, 2); err != nil { // by an administrator, say
		fmt.Println(err)
		return
	}
	second, err := slots.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("there is room for a second")
	if err := errors.Join(first.Release(ctx), second.Release(ctx), size.Set(ctx, 1)); err != nil {
		fmt.Println(err)
	}
	// Output:
	// one of one is taken: true
	// there is room for a second
}
