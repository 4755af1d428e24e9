package targets

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/workload/lock"
)

var (
	_ lock.BarrierClient       = (*recipesClient)(nil)
	_ lock.DoubleBarrierClient = (*recipesClient)(nil)
	_ lock.MarkedBarrierClient = (*recipesClient)(nil)
)

func (c *recipesClient) SetBarrier(ctx context.Context, name string) error {
	return recipes.NewBarrier(c.client, c.path(name)).Set(ctx)
}

func (c *recipesClient) RemoveBarrier(ctx context.Context, name string) error {
	return recipes.NewBarrier(c.client, c.path(name)).Remove(ctx)
}

func (c *recipesClient) WaitBarrier(ctx context.Context, name string) error {
	return recipes.NewBarrier(c.client, c.path(name)).Wait(ctx)
}

func (c *recipesClient) EnterBarrier(ctx context.Context, name string) (lock.Member, error) {
	b := recipes.NewDoubleBarrier(c.client, c.path(name), c.env.Locks[name].Size)
	if err := b.Enter(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

func (c *recipesClient) BarrierNodes(name string) (members, begun string) {
	return c.path(name), c.path(name) + "/ready"
}
