package recipes_test

import (
	"context"
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// BenchmarkValid measures the cost of Valid for a holder.
func BenchmarkValid(b *testing.B) {
	c, err := recipes.Connect(b.Context(), addrsOf(b), recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = c.Close(context.Background()) })
	lease, err := recipes.NewMutex(c, "/valid").Acquire(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if !lease.Valid() {
			b.Fatal(lease.Err())
		}
	}
}
