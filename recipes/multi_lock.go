package recipes

type MultiLease struct{}

func (g *MultiLease) lose() {}
