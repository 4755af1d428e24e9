package recipes_test

import (
	"context"
	"runtime"
	"testing"
	"weak"

	"github.com/zkverify/zkverify/recipes"
)

// A client keeps no memory of a lease that is over: a service may acquire a lock a million times.
func TestNothingIsKeptOfALeaseThatIsOver(t *testing.T) {
	for name, lock := range map[string]func(c *recipes.Client, path string) func(context.Context) (*recipes.Lease, error){
		"a mutex": func(c *recipes.Client, path string) func(context.Context) (*recipes.Lease, error) {
			return recipes.NewMutex(c, path).Acquire
		},
		"a mutex with a hand-off": func(c *recipes.Client, path string) func(context.Context) (*recipes.Lease, error) {
			return recipes.NewMutex(c, path, recipes.WithLocalHandoff(3)).Acquire
		},
		"a mutex that is not reentrant": func(c *recipes.Client, path string) func(context.Context) (*recipes.Lease, error) {
			return recipes.NewNonReentrantMutex(c, path).Acquire
		},
		"a read lock": func(c *recipes.Client, path string) func(context.Context) (*recipes.Lease, error) {
			return recipes.NewReadWriteMutex(c, path).Read().Acquire
		},
		"a permit": func(c *recipes.Client, path string) func(context.Context) (*recipes.Lease, error) {
			return recipes.NewSemaphore(c, path, 2).Acquire
		},
	} {
		for way, over := range map[string]func(t *testing.T, l *recipes.Lease){
			"released": func(t *testing.T, l *recipes.Lease) { release(t, l) },
			"lost": func(t *testing.T, l *recipes.Lease) {
				if err := admin(t).Delete(l.Node(), -1); err != nil {
					t.Error(err)
				}
				<-l.Lost()
			},
			"lost and released": func(t *testing.T, l *recipes.Lease) {
				if err := admin(t).Delete(l.Node(), -1); err != nil {
					t.Error(err)
				}
				<-l.Lost()
				_ = l.Release(within(t))
			},
		} {
			t.Run(name+", "+way, func(t *testing.T) {
				t.Parallel()
				acquire := lock(connect(t, addrsOf(t)), uniquePath(t))
				var kept []weak.Pointer[recipes.Lease]
				for range 3 { // the last one may be on a stack still
					func() {
						// Each acquire has an owner of its own, which no later acquire replaces.
						l, err := acquire(recipes.WithOwner(context.Background(), "owner "+uniquePath(t)))
						if err != nil {
							t.Fatal(err)
						}
						over(t, l)
						kept = append(kept, weak.Make(l))
					}()
				}
				eventually(t, "they are collected", func() bool {
					runtime.GC()
					left := 0
					for _, p := range kept[:2] {
						if p.Value() != nil {
							left++
						}
					}
					return left == 0
				})
			})
		}
	}
}
