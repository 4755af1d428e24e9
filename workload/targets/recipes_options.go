package targets

import (
	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

// recipesOptions are the options of a client that the application has chosen.
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

// recipesRule is a mutex's rule of the application's own, if it has one: the first of the
// queue alone is granted the lock, as without it.
func recipesRule(env lock.Env) []recipes.MutexOption {
	if !env.Choices.Rule {
		return nil
	}
	return []recipes.MutexOption{recipes.WithGrantRule(func(_ []recipes.Place, self int) int { return self - 1 })}
}

// State is how the lease says that it stands.
func (l *recipesLease) State() string { return l.Lease.State().String() }
