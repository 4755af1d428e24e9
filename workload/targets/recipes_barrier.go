package targets

import (
	"context"
	"errors"
	"path"
	"sync"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.BarrierClient       = (*recipesClient)(nil)
	_ lock.DoubleBarrierClient = (*recipesClient)(nil)
	_ lock.MarkedBarrierClient = (*recipesClient)(nil)
)

// recipesBarriers offers the barriers of a client.
type recipesBarriers struct {
	c       recipesConn
	members *recipesMembers
}

// recipesMembers holds the members of a client that are at no double barrier, by name. An
// application keeps its member, which remembers what it has left behind: the node of a call that it
// gave up, and a round that is not over.
type recipesMembers struct {
	mu   sync.Mutex
	idle map[string][]*recipes.DoubleBarrier
}

// take returns the member that has been idle for the shortest time, nil if there is none. A client that
// enters again at once so has the same member, unless another client of the application does so too.
func (m *recipesMembers) take(name string) *recipes.DoubleBarrier {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := m.idle[name]
	if len(all) == 0 {
		return nil
	}
	last := len(all) - 1
	m.idle[name] = all[:last]
	return all[last]
}

func (m *recipesMembers) put(name string, d *recipes.DoubleBarrier) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.idle == nil {
		m.idle = make(map[string][]*recipes.DoubleBarrier)
	}
	m.idle[name] = append(m.idle[name], d)
}

// recipesMember is a member inside. It is idle again when it has left, also if Leave fails.
type recipesMember struct {
	*recipes.DoubleBarrier
	left func()
}

func (m recipesMember) Leave(ctx context.Context) error {
	defer m.left()
	err := m.DoubleBarrier.Leave(ctx)
	if errors.Is(err, recipes.ErrMembershipLost) {
		return errors.Join(lock.ErrLost, err)
	}
	return err
}

func (b recipesBarriers) SetBarrier(ctx context.Context, name string) error {
	return recipes.NewBarrier(b.c.client, b.c.path(name)).Set(ctx)
}

func (b recipesBarriers) RemoveBarrier(ctx context.Context, name string) error {
	return recipes.NewBarrier(b.c.client, b.c.path(name)).Remove(ctx)
}

func (b recipesBarriers) WaitBarrier(ctx context.Context, name string) error {
	return recipes.NewBarrier(b.c.client, b.c.path(name)).Wait(ctx)
}

func (b recipesBarriers) EnterBarrier(ctx context.Context, name string) (lock.Member, error) {
	d := b.members.take(name)
	if d == nil {
		d = recipes.NewDoubleBarrier(b.c.client, b.c.path(name), b.c.env.Locks[name].Size)
	}
	back := func() { b.members.put(name, d) }
	if err := d.Enter(ctx); err != nil {
		back()
		return nil, err
	}
	return recipesMember{d, back}, nil
}

func (b recipesBarriers) BarrierNodes(name string) (members, begun string) {
	dir := path.Join(b.c.env.Root, name)
	return dir, dir + "/ready"
}
