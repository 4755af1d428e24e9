package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// A singleton worker: of all processes that run this, one works at a time. Run campaigns again
// when the term was lost, and returns when the work is done.
func ExampleElection_Run() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	election := recipes.NewElection(client, "/example-election/worker")
	err = election.Run(ctx, func(ctx context.Context, term *recipes.Lease) error {
		for job := range 3 {
			if ctx.Err() != nil {
				return context.Cause(ctx) // the term is over: another process works now
			}
			fmt.Println("job", job)
		}
		return nil
	})
	fmt.Println("done:", err)
	// Output:
	// job 0
	// job 1
	// job 2
	// done: <nil>
}

// A leader announces its address, and the other processes follow it.
func ExampleElection_Observe() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	const path = "/example-election/address"
	candidate := func(address string) (*recipes.Client, *recipes.Election) { // each in a process of its own
		client, err := recipes.Connect(ctx, addrs())
		if err != nil {
			panic(err)
		}
		return client, recipes.NewElection(client, path, recipes.WithData([]byte(address)))
	}
	a, first := candidate("10.0.0.1:8080")
	defer a.Close(ctx)
	b, second := candidate("10.0.0.2:8080")
	defer b.Close(ctx)

	term, err := first.Campaign(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	elected := make(chan error)
	go func() {
		_, err := second.Campaign(ctx)
		elected <- err
	}()
	follower, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer follower.Close(ctx)
	for leader, err := range recipes.NewElection(follower, path).Observe(ctx) {
		switch address := string(leader.Data); {
		case err != nil:
			fmt.Println(err)
			return
		case leader.Node == "":
			continue // there is no leader: requests have to wait
		default:
			fmt.Println("requests go to", address)
		}
		if string(leader.Data) == "10.0.0.2:8080" {
			break
		}
		if err := term.Release(ctx); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(<-elected)
	// Output:
	// requests go to 10.0.0.1:8080
	// requests go to 10.0.0.2:8080
	// <nil>
}

// The fenced write of a leader: the store refuses a leader that does not know yet that its term
// is over, for instance because its process was paused.
func ExampleElection_Campaign() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	election := recipes.NewElection(client, "/example-election/fenced")
	var store Store // see ExampleFence
	lead := func(value string) *recipes.Lease {
		term, err := election.Campaign(ctx)
		if err != nil {
			panic(err)
		}
		fmt.Println(value, store.Write(value, term.Token()))
		return term
	}
	first := lead("of the first leader:")
	if err := first.Release(ctx); err != nil {
		fmt.Println(err)
	}
	second := lead("of the second leader:")
	err = store.Write("late", first.Token())
	fmt.Println("of the first, late, is refused:", errors.Is(err, recipes.ErrStaleToken))
	if err := second.Release(ctx); err != nil {
		fmt.Println(err)
	}
	// Output:
	// of the first leader: <nil>
	// of the second leader: <nil>
	// of the first, late, is refused: true
}
