package recipes_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Many goroutines of one process want the lock: a release hands it to the next of
// them, up to fifty times before it is the turn of other processes.
func ExampleWithLocalHandoff() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	lock := recipes.NewMutex(client, "/example-handoff", recipes.WithLocalHandoff(50))
	sum, ordered := 0, true
	var last recipes.Token
	var all sync.WaitGroup
	for range 100 {
		all.Go(func() {
			lease, err := lock.Acquire(ctx)
			if err != nil {
				fmt.Println(err)
				return
			}
			sum++
			ordered = ordered && lease.Token().Compare(last) > 0 // tokens grow with a hand-off, too
			last = lease.Token()
			if err := lease.Release(ctx); err != nil {
				fmt.Println(err)
			}
		})
	}
	all.Wait()
	fmt.Println(sum, ordered)
	// Output: 100 true
}
