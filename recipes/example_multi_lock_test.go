package recipes_test

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Transfers between accounts lock both of them. Two transfers in opposite directions do not wait
// for each other: a multi-lock enters both queues in one transaction.
func ExampleMultiLock() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	balance := map[string]int{"a": 100, "b": 100}
	account := func(name string) recipes.Lock {
		return recipes.NewMutex(client, "/example-multi-lock/"+name)
	}
	transfer := func(from, to string, amount int) error {
		both := recipes.NewMultiLock(account(from), account(to))
		return both.Do(ctx, func(context.Context, *recipes.MultiLease) error {
			balance[from] -= amount
			balance[to] += amount
			return nil
		})
	}
	var all sync.WaitGroup
	for range 10 {
		all.Go(func() {
			if err := transfer("a", "b", 3); err != nil {
				fmt.Println(err)
			}
		})
		all.Go(func() {
			if err := transfer("b", "a", 2); err != nil {
				fmt.Println(err)
			}
		})
	}
	all.Wait()
	fmt.Println(balance["a"], balance["b"])
	// Output: 90 110
}
