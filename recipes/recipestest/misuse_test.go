package recipestest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/recipestest"
)

// failing is a test that records the text of its failure.
type failing struct {
	*testing.T

	why string
}

func (f *failing) Fatal(args ...any) {
	f.why = fmt.Sprint(args...)
	runtime.Goexit()
}

func (f *failing) Fatalf(format string, args ...any) { f.Fatal(fmt.Sprintf(format, args...)) }

// failure runs a test function, and returns the text of its failure.
func failure(t *testing.T, test func(testing.TB)) string {
	f := &failing{T: t}
	done := make(chan struct{})
	go func() {
		defer close(done)
		test(f)
	}()
	<-done
	return f.why
}

func TestMisuseFailsTheTest(t *testing.T) {
	onSuspend := recipes.WithLossPolicy(recipes.LoseOnSuspend)
	for name, c := range map[string]struct {
		test func(testing.TB)
		want string
	}{
		"an unknown reason":             {func(t testing.TB) { recipestest.NewLease(t).Lose("boredom") }, `no test can lose a lease because of "boredom"; the reasons are ["client closed"`},
		"a reason that no client meets": {func(t testing.TB) { recipestest.NewLease(t).Lose(recipes.LossNotAuthenticated) }, `no test can lose a lease because of "authentication failed"`},
		"a suspension that is no loss": {func(t testing.TB) { recipestest.NewLease(t).Lose(recipes.LossLinkSuspended) },
			"recipes.WithLossPolicy(recipes.LoseOnSuspend)"},
		"a suspension that is a loss":             {func(t testing.TB) { recipestest.NewLease(t, onSuspend).Suspend() }, "with LoseOnSuspend no lease is"},
		"a deadline that no lease lives to see":   {func(t testing.TB) { recipestest.NewLease(t, onSuspend).Lose(recipes.LossDeadlinePassed) }, "was the client made with LoseOnSuspend?"},
		"a lease that is lost already":            {func(t testing.TB) { l := recipestest.NewLease(t); l.Lose(recipes.LossNodeDeleted); l.Suspend() }, "has ended already: recipes: lease lost"},
		"a lease that was released":               {func(t testing.TB) { l := recipestest.NewLease(t); _ = l.Release(t.Context()); l.LoseUnnoticed() }, "has ended already"},
		"a resume of a lease that is lost":        {func(t testing.TB) { l := recipestest.NewLease(t); l.Lose(recipes.LossNodeDeleted); l.Resume() }, "lost, when it should be held"},
		"a lock that is not held":                 {func(t testing.TB) { recipestest.NewLease(t).Client().Lease("/jobs") }, "does not hold /jobs after 1m0s; it holds [/recipestest/lock]"},
		"a bad option":                            {func(t testing.TB) { recipestest.NewLease(t, recipes.WithSessionTimeout(0)) }, "bad option: a session timeout"},
		"a mutex that the code under test has":    {func(t testing.TB) { l := recipestest.NewLease(t); l.Client().Occupy(l.Path()) }, "deadline exceeded"},
		"a path that no lock can have, denied":    {func(t testing.TB) { recipestest.NewClient(t).DenyAcquires("jobs") }, "jobs"},
		"an expiry of a client without a session": {func(t testing.TB) { c := recipestest.NewClient(t); c.Servers().Client("nobody").Expire() }, "no session"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				if got := failure(t, c.test); !strings.Contains(got, c.want) {
					t.Errorf("the test fails with %q, want %q", got, c.want)
				}
			})
		})
	}
}
