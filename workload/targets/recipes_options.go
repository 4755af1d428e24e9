package targets

import (
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

// recipesOptions returns the options of a client that the application has chosen.
func recipesOptions(env lock.Env) (options []recipes.Option) {
	if env.Connection != nil {
		options = append(options, recipes.WithConnectionListener(func(s recipes.ConnectionState) { env.Connection(s.String()) }))
	}
	if env.Choices.Namespace {
		options = append(options, recipes.WithNamespace(env.Root))
	}
	if env.Choices.EndEarly {
		options = append(options, recipes.WithLossPolicy(recipes.LoseOnSuspend))
	}
	return options
}

// recipesRule returns the application's own rule for a mutex, if it has one: only the first of
// the queue is granted the lock, as without a rule.
func recipesRule(env lock.Env) []recipes.LockOption {
	if !env.Choices.Rule {
		return nil
	}
	return []recipes.LockOption{recipes.WithGrantRule(func(_ []recipes.Place, self int) int { return self - 1 })}
}

// State returns the state of the lease.
func (l *recipesLease) State() string { return l.Lease.State().String() }
