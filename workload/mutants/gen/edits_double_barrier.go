package main

var doubleBarrierEdits = []edit{
	// mutant-double-barrier-any-wakeup
	{"member.go", "		fired, err := m.s.awaitEvent(ctx, event, linkChanged, patience)\n", `		fired, err := m.s.awaitEvent(ctx, event, linkChanged, patience)
		if err == nil && fired && m.s.client.cfg.defect == "mutant-double-barrier-any-wakeup" {
			return nil
		}
`},

	// mutant-double-barrier-ghost
	{"member.go", "	m.s.untrack(m.path())\n	return m.s.background(", `	if m.s.client.cfg.defect == "mutant-double-barrier-ghost" {
		done := make(chan struct{})
		close(done)
		return done
	}
	m.s.untrack(m.path())
	return m.s.background(`},

	// mutant-double-barrier-shared-watch
	{"room.go", "	if len(others) > 0 { // it was the lowest name: see member.leave\n", `	if r.s.client.cfg.defect == "mutant-double-barrier-shared-watch" {
		members, _, event, err := r.watch(ctx)
		if err != nil || len(members) == 0 {
			return err
		}
		select {
		case <-event:
			return nil
		case <-r.s.ended:
			return errSessionEnded
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
	if len(others) > 0 { // it was the lowest name: see member.leave
`},

	// mutant-double-barrier-stale-ready
	{"member.go", "	if m.id < now.id || now.lists(m.name) {", `	if m.id < now.id || now.lists(m.name) || m.s.client.cfg.defect == "mutant-double-barrier-stale-ready" {`},

	// mutant-double-barrier-leaves-alone
	{"double_barrier.go", "	return b.catchUp(ctx, in, others)\n", `	if b.client.cfg.defect == "mutant-double-barrier-leaves-alone" {
		b.behind = 0
		return nil
	}
	return b.catchUp(ctx, in, others)
`},

	// mutant-double-barrier-once-full
	{"member.go", "		if len(members) < n {\n			full, waited", `		if len(members) < n && (full.IsZero() || m.s.client.cfg.defect != "mutant-double-barrier-once-full") {
			full, waited`},
}
