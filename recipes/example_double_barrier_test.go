package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Three workers compute in rounds. No worker begins a round before all have entered, or the next
// round before all are done. The same path serves every round.
func ExampleDoubleBarrier() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const workers, rounds = 3, 2

	var done [rounds]atomic.Int64
	work := func(round int) { done[round].Add(1) }

	var all sync.WaitGroup
	for range workers {
		all.Go(func() { // a process of its own
			client, err := recipes.Connect(ctx, addrs())
			if err != nil {
				fmt.Println(err)
				return
			}
			defer client.Close(ctx)
			barrier := recipes.NewDoubleBarrier(client, "/example-double-barrier", workers)
			for round := range rounds {
				if err := barrier.Enter(ctx); err != nil {
					fmt.Println(err)
					return
				}
				work(round)
				err := barrier.Leave(ctx)
				if errors.Is(err, recipes.ErrMembershipLost) {
					// The session had ended: the others may have left without this worker.
					fmt.Println("round", round, "is not to be trusted:", err)
					return
				}
				if err != nil {
					fmt.Println(err)
					return
				}
				if n := done[round].Load(); n < workers {
					fmt.Println("let go when only", n, "were done")
				}
			}
		})
	}
	all.Wait()
	for round := range rounds {
		fmt.Printf("round %d: %d workers\n", round, done[round].Load())
	}
	// Output:
	// round 0: 3 workers
	// round 1: 3 workers
}

// An Enter with a deadline leaves no node behind: a member that gives up does not count for
// members that enter later.
func ExampleDoubleBarrier_Enter() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	barrier := recipes.NewDoubleBarrier(client, "/example-double-barrier-enter", 2)
	soon, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
	defer cancel()
	if err := barrier.Enter(soon); errors.Is(err, context.DeadlineExceeded) {
		fmt.Println("no other member came")
	}
	// Output: no other member came
}
