package recipes_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// Members that join a round at the same time write its list one after the other. None of them pauses
// because the others were first.
func TestMembersThatJoinAtTheSameTimeDoNotPause(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		const others = 12
		first := recipes.NewDoubleBarrier(bubbleClient(t, e, "first"), "/barrier", 1)
		if err := first.Enter(t.Context()); err != nil {
			t.Fatal(err)
		}
		members := make([]*recipes.DoubleBarrier, others)
		for i := range members {
			members[i] = recipes.NewDoubleBarrier(bubbleClient(t, e, fmt.Sprint("other", i)), "/barrier", 1)
		}
		began, errs := time.Now(), make(chan error, others)
		for _, m := range members {
			go func() { errs <- m.Enter(t.Context()) }()
		}
		for range members {
			if err := <-errs; err != nil {
				t.Error(err)
			}
		}
		if took := time.Since(began); took > 500*time.Millisecond {
			t.Errorf("they have joined after %v", took)
		}
	})
}
