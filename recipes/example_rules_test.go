package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// The first two of the queue hold the lock: a custom grant rule. All clients of the lock must
// have the same rule.
func ExampleWithGrantRule() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	pair := func(queue []recipes.Place, self int) (waitFor int) {
		if self < 2 {
			return -1 // its turn
		}
		return self - 2
	}
	lock := recipes.NewMutex(client, "/example-rules", recipes.WithGrantRule(pair))
	for i := range 3 {
		lease, err := lock.TryAcquire(ctx)
		if errors.Is(err, recipes.ErrNotAcquired) {
			fmt.Println(i, "has to wait")
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		defer lease.Release(ctx)
		fmt.Println(i, "holds the lock")
	}
	// Output:
	// 0 holds the lock
	// 1 holds the lock
	// 2 has to wait
}
