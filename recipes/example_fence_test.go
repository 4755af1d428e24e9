package recipes_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// Store is a resource that a lock protects, for instance a separate process. It gets the token
// with every write.
type Store struct {
	fence recipes.Fence
	value string
}

// Write refuses writes of holders older than the newest one that has written.
func (s *Store) Write(value string, token recipes.Token) error {
	return s.fence.Guard(token, func() error {
		s.value = value
		return nil
	})
}

// The resource itself refuses a holder that does not know yet that it has lost its lock, for
// instance because its process was paused.
func ExampleFence() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	client, err := recipes.Connect(ctx, addrs())
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close(ctx)
	lock := recipes.NewMutex(client, "/example-fence")
	var store Store

	first, err := lock.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the first holder:", store.Write("by the first", first.Token()))
	if err := first.Release(ctx); err != nil {
		fmt.Println(err)
		return
	}

	second, err := lock.Acquire(ctx)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("the second holder:", store.Write("by the second", second.Token()))

	err = store.Write("late", first.Token())
	fmt.Println("the first again, refused:", errors.Is(err, recipes.ErrStaleToken))
	fmt.Println("the store has", store.value)
	// Output:
	// the first holder: <nil>
	// the second holder: <nil>
	// the first again, refused: true
	// the store has by the second
}
