package main

var barrierEdits = []edit{
	// mutant-barrier-local-read
	{"barrier.go", "		if *first != 0 {\n			stat, err = statOf", `		if *first != 0 || b.client.cfg.defect == "mutant-barrier-local-read" {
			stat, err = statOf`},
	{"barrier.go", "		if err == nil && stat == nil {\n			stat, err = b.standing", `		if err == nil && stat == nil && b.client.cfg.defect != "mutant-barrier-local-read" {
			stat, err = b.standing`},

	// mutant-barrier-any-wakeup
	{"barrier.go", "		if err := s.awaitNode(ctx, b.path); err != nil {\n			return err\n		}\n", `		if err := s.awaitNode(ctx, b.path); err != nil {
			return err
		}
		if b.client.cfg.defect == "mutant-barrier-any-wakeup" {
			return nil
		}
`},

	// mutant-barrier-sleeps
	{"await.go", "		return nil // gone between look and watch (helix #44)", `		if s.client.cfg.defect == "mutant-barrier-sleeps" {
			select {
			case <-s.ended:
				return errSessionEnded
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil // gone between look and watch (helix #44)`},
}
