package recipes_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// optionTrials makes each recipe with one option, and calls it.
var optionTrials = map[string]func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error{
	"Mutex": func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error {
		_, err := recipes.NewMutex(c, path, o).Acquire(ctx)
		return err
	},
	"ReadWriteMutex": func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error {
		_, err := recipes.NewReadWriteMutex(c, path, o).Read().TryAcquire(ctx)
		return err
	},
	"Semaphore": func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error {
		_, err := recipes.NewMultiLock(recipes.NewMutex(c, path+"/m"), recipes.NewSemaphore(c, path+"/s", 1, o)).Acquire(ctx)
		return err
	},
	"Election": func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error {
		_, err := recipes.NewElection(c, path, o).Campaign(ctx)
		return err
	},
	"Barrier": func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error {
		return recipes.NewBarrier(c, path, o).Set(ctx)
	},
	"DoubleBarrier": func(ctx context.Context, c *recipes.Client, path string, o recipes.LockOption) error {
		return recipes.NewDoubleBarrier(c, path, 1, o).Enter(ctx)
	},
}

func TestARecipeRefusesAnOptionThatItDoesNotTake(t *testing.T) {
	t.Parallel()
	c := connect(t, addrsOf(t))
	for name, test := range map[string]struct {
		option  recipes.LockOption
		takenBy []string // nil: by every recipe
	}{
		"WithData":           {recipes.WithData(nil), nil},
		"WithLockACL":        {recipes.WithLockACL(zk.WorldACL(zk.PermAll)...), nil},
		"WithRevocation":     {recipes.WithRevocation(func(*recipes.Lease) {}), []string{"Mutex", "ReadWriteMutex", "Semaphore", "Election"}},
		"WithLeaderSelector": {recipes.WithLeaderSelector(), []string{"Election"}},
		"WithLocalHandoff":   {recipes.WithLocalHandoff(1), []string{"Mutex"}},
		"WithGrantRule":      {recipes.WithGrantRule(func(_ []recipes.Place, self int) int { return self - 1 }), []string{"Mutex"}},
	} {
		for recipe, call := range optionTrials {
			err := call(within(t), c, uniquePath(t), test.option)
			if test.takenBy == nil || slices.Contains(test.takenBy, recipe) {
				if err != nil {
					t.Errorf("%s of %s: %v", name, recipe, err)
				}
				continue
			}
			if says := recipe + " does not take " + name; !errors.Is(err, recipes.ErrBadOption) || !strings.HasSuffix(err.Error(), says) {
				t.Errorf("%s of %s: %v", name, recipe, err)
			}
		}
	}
}
