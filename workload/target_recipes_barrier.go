package workload

import (
	"context"

	"github.com/zkverify/zkverify/recipes"
)

var (
	_ BarrierClient       = (*recipesClient)(nil)
	_ DoubleBarrierClient = (*recipesClient)(nil)
	_ MarkedBarrierClient = (*recipesClient)(nil)
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

func (c *recipesClient) EnterBarrier(ctx context.Context, name string) (Member, error) {
	b := recipes.NewDoubleBarrier(c.client, c.path(name), c.env.Locks[name].Size)
	if err := b.Enter(ctx); err != nil {
		return nil, err
	}
	return b, nil
}

func (c *recipesClient) BarrierNodes(name string) (members, begun string) {
	return c.path(name), c.path(name) + "/ready"
}
