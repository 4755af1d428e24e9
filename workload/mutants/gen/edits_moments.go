package main

// momentEdits are defects that show at one moment alone: between two steps, while
// something changes, or right after a reconnect.
var momentEdits = []edit{
	// mutant-double-barrier-lowest-last
	{"room.go", "			return err\n		}\n	}\n	for {\n		members, _, err := r.list(ctx)\n", `			return err
		}
		if r.s.client.cfg.defect == "mutant-double-barrier-lowest-last" {
			return nil
		}
	}
	for {
		members, _, err := r.list(ctx)
`},

	// mutant-guarded-new-session
	{"guarded.go", "func guarded(ctx context.Context, leases []*Lease, ops []any) ([]zk.MultiResponse, error) {\n", `func guarded(ctx context.Context, leases []*Lease, ops []any) ([]zk.MultiResponse, error) {
	if c := leases[0].hold.client; c.cfg.defect == "mutant-guarded-new-session" {
		next, err := c.session(ctx)
		if err != nil {
			return nil, err
		}
		since, _ := c.stale.LoadOrStore(next.id, time.Now())
		if next != leases[0].hold.s && time.Since(since.(time.Time)) < time.Second {
			responses, err := next.conn.Multi(ops...)
			if err != nil && !answered(err) {
				err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
			}
			return responses, err
		}
	}
`},
	{"guarded.go", "	\"strings\"\n	\"sync\"\n", "	\"strings\"\n	\"sync\"\n	\"time\"\n"},
}
