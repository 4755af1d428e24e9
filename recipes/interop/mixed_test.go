package interop_test

import (
	"context"
	"regexp"
	"strconv"
	"sync"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// mixedTarget opens clients of two targets that share their paths: clients with
// an even index are ours, those with an odd index Curator's, so that both use every lock. It has
// the promises of the first target that the other can keep.
type mixedTarget struct {
	lock.Target // ours
	theirs      lock.Target
	network     *namingNetwork
}

func (m mixedTarget) Name() string { return m.Target.Name() + "+" + m.theirs.Name() }

// Recipes returns the recipes of our target.
func (m mixedTarget) Recipes() []histories.Recipe { return lock.RecipesOf(m.Target) }

// limited is implemented by targets with fewer promises than ours.
type limited interface {
	limit(histories.Promises) histories.Promises
}

func (m mixedTarget) Promises(s lock.Settings) histories.Promises {
	p := m.Target.Promises(s)
	if l, ok := m.theirs.(limited); ok {
		p = l.limit(p)
	}
	return p
}

func (m mixedTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	if isCurator(m.network.clientAt(env.Servers[0])) {
		return m.theirs.Open(ctx, env)
	}
	return m.Target.Open(ctx, env)
}

func isCurator(client int) bool { return client%2 == 1 }

// namingNetwork records the workload's client that each address was made for.
type namingNetwork struct {
	links.Network

	mu      sync.Mutex
	clients map[string]int // by address
}

var clientInName = regexp.MustCompile(`-client(\d+)-server\d+$`)

func (n *namingNetwork) Link(ctx context.Context, name, upstream string) (links.Link, error) {
	l, err := n.Network.Link(ctx, name, upstream)
	if err != nil {
		return nil, err
	}
	if m := clientInName.FindStringSubmatch(name); m != nil {
		client, _ := strconv.Atoi(m[1])
		n.mu.Lock()
		defer n.mu.Unlock()
		n.clients[l.Addr()] = client
	}
	return l, nil
}

func (n *namingNetwork) clientAt(addr string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.clients[addr]
}
