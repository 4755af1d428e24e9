package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A job must not start while it runs. When it tries to start itself again, the lock returns an
// error; with Curator the job would wait for itself.
func ExampleNewNonReentrantMutex() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	lock := recipes.NewNonReentrantMutex(client, "/example-non-reentrant")
	var job func(ctx context.Context) error
	job = func(ctx context.Context) error {
		return lock.Do(ctx, func(ctx context.Context, _ *recipes.Lease) error {
			fmt.Println("the job runs")
			if err := job(ctx); errors.Is(err, recipes.ErrAlreadyHeld) {
				fmt.Println("it does not start itself again")
			}
			return nil
		})
	}
	if err := job(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// the job runs
	// it does not start itself again
}
