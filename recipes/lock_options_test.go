package recipes_test

import (
	"testing"

	"github.com/zkverify/zkverify/recipes"
)

// A recipe takes only its own options: the compiler checks it.
func TestAnOptionIsTakenByTheRecipesThatHaveIt(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		option          any
		anyLock, anyUse bool
	}{
		"WithData":         {recipes.WithData(nil), true, true},
		"WithLockACL":      {recipes.WithLockACL(), true, true},
		"WithRevocation":   {recipes.WithRevocation(nil), true, false},
		"WithLocalHandoff": {recipes.WithLocalHandoff(1), false, false},
		"WithGrantRule":    {recipes.WithGrantRule(nil), false, false},
	} {
		_, mutex := test.option.(recipes.MutexOption)
		_, lock := test.option.(recipes.LockOption)
		_, node := test.option.(recipes.NodeOption)
		if !mutex || lock != test.anyLock || node != test.anyUse {
			t.Errorf("%s: for a mutex %v, for any lock %v, for any recipe %v", name, mutex, lock, node)
		}
	}
}
