package targets

import (
	"context"
	"path"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.BarrierClient       = (*recipesClient)(nil)
	_ lock.DoubleBarrierClient = (*recipesClient)(nil)
	_ lock.MarkedBarrierClient = (*recipesClient)(nil)
)

// recipesBarriers offers the barriers of a client.
type recipesBarriers struct{ c recipesConn }

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
	d := recipes.NewDoubleBarrier(b.c.client, b.c.path(name), b.c.env.Locks[name].Size)
	if err := d.Enter(ctx); err != nil {
		return nil, err
	}
	return d, nil
}

func (b recipesBarriers) BarrierNodes(name string) (members, begun string) {
	dir := path.Join(b.c.env.Root, name)
	return dir, dir + "/ready"
}
