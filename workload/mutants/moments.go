package mutants

import "github.com/zkverify/zkverify/histories"

// momentDefects show only at one moment: between two steps, during a change, or right after a
// reconnect.
var momentDefects = []Defect{
	{"mutant-double-barrier-lowest-last", histories.DoubleBarrier, "barriers",
		"Curator's double barrier",
		"trusts that the member with the lowest name leaves last"},
	{"mutant-guarded-new-session", histories.Mutex, "no lost update, guarded",
		"a fence that is not up yet",
		"does not look at the lock for the first second of a new session"},
}

// momentEdits are the edits of momentDefects.
var momentEdits = []edit{
	// mutant-double-barrier-lowest-last
	{"internal/barrier/directory.go", "			return err\n		}\n	}\n	for {\n		members, _, err := r.list(ctx)\n", `			return err
		}
		if r.S.Defect() == "mutant-double-barrier-lowest-last" {
			return nil
		}
	}
	for {
		members, _, err := r.list(ctx)
`},

	// mutant-guarded-new-session
	{"guarded.go", "func guarded(ctx context.Context, leases []*Lease, ops []any) ([]zk.MultiResponse, error) {\n", `func guarded(ctx context.Context, leases []*Lease, ops []any) ([]zk.MultiResponse, error) {
	if h := leases[0].hold; h.S.Defect() == "mutant-guarded-new-session" {
		next, err := h.registry.sessions.Get(ctx)
		if err != nil {
			return nil, err
		}
		since, _ := h.S.Stale.LoadOrStore(next.ID, time.Now())
		if next != h.S && time.Since(since.(time.Time)) < time.Second {
			responses, err := next.Conn.Multi(ops...)
			if err != nil && !session.Answered(err) {
				err = fmt.Errorf("%w: %w", ErrOutcomeUnknown, err)
			}
			return responses, err
		}
	}
`},
	{"guarded.go", "	\"strings\"\n	\"sync\"\n", "	\"strings\"\n	\"sync\"\n	\"time\"\n"},
}
