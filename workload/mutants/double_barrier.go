package mutants

import "github.com/zkverify/zkverify/histories"

var doubleBarrierDefects = []Defect{
	{"mutant-double-barrier-any-wakeup", histories.DoubleBarrier, "barriers",
		"CURATOR GH-1290",
		"takes any change among the members for the beginning of the round"},
	{"mutant-double-barrier-ghost", histories.DoubleBarrier, "no leak",
		"CURATOR-318, CURATOR-80",
		"an enter that timed out leaves its member behind"},
	{"mutant-double-barrier-shared-watch", histories.DoubleBarrier, "barriers",
		"Curator PR #416",
		"a member that leaves is woken by the watch of its enter, as soon as any other leaves"},
	{"mutant-double-barrier-stale-ready", histories.DoubleBarrier, "barriers",
		"Curator's double barrier",
		"enters when there is a ready node, also one that an earlier round has left behind"},
	{"mutant-double-barrier-leaves-alone", histories.DoubleBarrier, "barriers",
		"a double barrier without the end",
		"leaves without waiting for the others"},
	{"mutant-double-barrier-once-full", histories.DoubleBarrier, "barriers",
		"CURATOR-318, a count that is remembered",
		"begins a round with who is left when all were there once"},
}

var doubleBarrierEdits = []edit{
	// mutant-double-barrier-any-wakeup
	{"internal/barrier/member.go", "		fired, err := session.AwaitEvent(ctx, m.S, event, linkChanged, patience)\n", `		fired, err := session.AwaitEvent(ctx, m.S, event, linkChanged, patience)
		if err == nil && fired && m.S.Defect() == "mutant-double-barrier-any-wakeup" {
			return nil
		}
`},

	// mutant-double-barrier-ghost
	{"internal/barrier/member.go", "	m.S.Untrack(m.Path())\n	return session.Background(m.S, ", `	if m.S.Defect() == "mutant-double-barrier-ghost" {
		done := make(chan struct{})
		close(done)
		return done
	}
	m.S.Untrack(m.Path())
	return session.Background(m.S, `},

	// mutant-double-barrier-shared-watch
	{"internal/barrier/directory.go", "	if len(others) > 0 { // others[0] was the lowest name: see Member.Leave\n", `	if r.S.Defect() == "mutant-double-barrier-shared-watch" {
		members, _, event, err := r.watch(ctx)
		if err != nil || len(members) == 0 {
			return err
		}
		select {
		case <-event:
			return nil
		case <-r.S.Ended:
			return session.ErrEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if len(others) > 0 { // others[0] was the lowest name: see Member.Leave
`},

	// mutant-double-barrier-stale-ready
	{"internal/barrier/member.go", "	if m.id < now.id || now.lists(m.name) {", `	if m.id < now.id || now.lists(m.name) || m.S.Defect() == "mutant-double-barrier-stale-ready" {`},

	// mutant-double-barrier-leaves-alone
	{"double_barrier.go", "	return b.catchUp(ctx, in, others)\n", `	if b.client.cfg.Defect == "mutant-double-barrier-leaves-alone" {
		b.behind = 0
		return nil
	}
	return b.catchUp(ctx, in, others)
`},

	// mutant-double-barrier-once-full
	{"internal/barrier/member.go", "		if len(members) < n {\n			full, waited", `		if len(members) < n && (full.IsZero() || m.S.Defect() != "mutant-double-barrier-once-full") {
			full, waited`},
}
