package main

var barrierEdits = []edit{
	// mutant-barrier-local-read
	{"barrier.go", "		if *first != 0 {\n			stat, err = statOf", `		if *first != 0 || b.client.cfg.Defect == "mutant-barrier-local-read" {
			stat, err = statOf`},
	{"barrier.go", "		if err == nil && stat == nil {\n			stat, err = b.standing", `		if err == nil && stat == nil && b.client.cfg.Defect != "mutant-barrier-local-read" {
			stat, err = b.standing`},

	// mutant-barrier-any-wakeup
	{"barrier.go", "		if err := session.AwaitNode(ctx, s, b.path, pace); err != nil {\n			return err\n		}\n", `		if err := session.AwaitNode(ctx, s, b.path, pace); err != nil {
			return err
		}
		if b.client.cfg.Defect == "mutant-barrier-any-wakeup" {
			return nil
		}
`},

	// mutant-barrier-sleeps
	{"internal/session/await.go", "		return pace.Wait(ctx, s) // gone between look and watch (helix #44)", `		if s.Defect() == "mutant-barrier-sleeps" {
			select {
			case <-s.Ended:
				return ErrEnded
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return pace.Wait(ctx, s) // gone between look and watch (helix #44)`},
}
