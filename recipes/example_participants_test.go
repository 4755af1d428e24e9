package recipes_test

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Participants shows the holder of the lock, and since when it has held it. The data is set by
// the holder's program.
func ExampleMutex_Participants() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)

	lock := recipes.NewMutex(client, "/example-participants", recipes.WithData([]byte("worker 7 on host-3")))
	err = lock.Do(ctx, func(ctx context.Context, lease *recipes.Lease) error {
		all, err := lock.Participants(ctx)
		if err != nil {
			return err
		}
		for i, p := range all {
			fmt.Printf("%d: %s, of our session: %v, our token: %v\n",
				i, p.Data, p.Session == client.SessionID(), p.Token == lease.Token())
		}
		return nil
	})
	if err != nil {
		fmt.Println(err)
	}
	all, err := lock.Participants(ctx)
	fmt.Println(len(all), err)
	// Output:
	// 0: worker 7 on host-3, of our session: true, our token: true
	// 0 <nil>
}
