package recipes_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// orderNumbers gives out numbers that begin with the day. Like a file, or a table without
// transactions, it is not safe for concurrent use.
type orderNumbers struct {
	day  string
	last int
}

func (o *orderNumbers) next(day string) string {
	if o.day != day {
		o.day, o.last = day, 0
	}
	n := o.last
	time.Sleep(5 * time.Millisecond) // two callers that are here at the same time get the same number
	o.last = n + 1
	return fmt.Sprintf("%s-%04d", o.day, o.last)
}

// Thirty contenders in three processes draw order numbers from one source, which serves only one
// at a time. The lock ensures that no number is given out twice.
func ExampleMutex() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	var source orderNumbers
	drawn := make(chan string, 30)
	var all sync.WaitGroup
	for range 3 {
		client, err := recipes.Connect(ctx, addrs()) // in each process
		if err != nil {
			fmt.Println(err)
			return
		}
		defer client.Close(ctx)
		lock := recipes.NewMutex(client, "/example-mutex/order-numbers")
		for range 10 {
			all.Go(func() {
				lease, err := lock.Acquire(ctx)
				if err != nil {
					fmt.Println(err)
					return
				}
				number := source.next("20270401")
				if err := lease.Release(ctx); err != nil {
					fmt.Println("not to be trusted:", number, err) // the lease was lost
					return
				}
				drawn <- number
			})
		}
	}
	all.Wait()
	close(drawn)

	times := make(map[string]int)
	for number := range drawn {
		times[number]++
	}
	for number, n := range times {
		if n > 1 {
			fmt.Println(number, "was given out", n, "times")
		}
	}
	fmt.Println(len(times), "orders, the last is", source.day, source.last)
	// Output:
	// 30 orders, the last is 20270401 30
}

// An owner that holds the lock may acquire it again: with the context of its lease, in any
// function or goroutine that gets it.
func ExampleMutex_Acquire() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	lock := recipes.NewMutex(client, "/example-mutex/reentrant")
	reserve := func(ctx context.Context) error { // acquires the lock itself, for every caller
		return lock.Do(ctx, func(_ context.Context, lease *recipes.Lease) error {
			fmt.Println("depth", lease.Depth())
			return nil
		})
	}
	lease, err := lock.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := reserve(lease.Context()); err != nil {
		fmt.Println(err)
	}
	fmt.Println("still held:", lock.Held())
	if err := lease.Release(ctx); err != nil {
		fmt.Println(err)
	}
	if err := reserve(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// depth 2
	// still held: true
	// depth 1
}
