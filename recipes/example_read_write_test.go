package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A configuration that many processes read and few change. The writer continues as a reader of
// the new configuration, and no other writer comes in between.
func ExampleReadWriteMutex() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	lock := recipes.NewReadWriteMutex(client, "/example-read-write")
	config := "old"

	writing, err := lock.Write().Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	config = "new"
	reading, err := lock.Read().Acquire(writing.Context()) // a downgrade: at once
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := writing.Release(ctx); err != nil {
		fmt.Println(err)
		return
	}

	var readers sync.WaitGroup
	for range 3 {
		readers.Go(func() {
			lease, err := lock.Read().Acquire(ctx)
			if err != nil {
				fmt.Println(err)
				return
			}
			defer lease.Release(ctx)
			fmt.Println("a reader sees", config)
		})
	}
	readers.Wait()

	_, err = lock.Write().TryAcquire(ctx)
	fmt.Println("another writer is kept out:", errors.Is(err, recipes.ErrNotAcquired))
	_, err = lock.Write().Acquire(reading.Context())
	fmt.Println("a reader cannot become a writer:", errors.Is(err, recipes.ErrUpgrade))
	if err := reading.Release(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// a reader sees new
	// a reader sees new
	// a reader sees new
	// another writer is kept out: true
	// a reader cannot become a writer: true
}
