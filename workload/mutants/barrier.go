package mutants

import "github.com/zkverify/zkverify/histories"

var barrierDefects = []Defect{
	{"mutant-barrier-local-read", histories.Barrier, "barriers",
		"Curator's barrier on a server that lags behind",
		"asks its own server whether the barrier is up, and not the leader"},
	{"mutant-barrier-any-wakeup", histories.Barrier, "barriers",
		"CURATOR GH-1290",
		"takes any wake-up for the removal of the barrier"},
	{"mutant-barrier-sleeps", histories.Barrier, "progress",
		"helix PR #44",
		"waits for a barrier that was removed between the look and the watch"},
}

var barrierEdits = []edit{
	// mutant-barrier-local-read
	{"barrier.go", "		if *first != 0 {\n			stat, err = statOf", `		if *first != 0 || b.client.cfg.Defect == "mutant-barrier-local-read" {
			stat, err = statOf`},
	{"barrier.go", "		if err == nil && stat == nil {\n			stat, err = b.standing", `		if err == nil && stat == nil && b.client.cfg.Defect != "mutant-barrier-local-read" {
			stat, err = b.standing`},

	// mutant-barrier-any-wakeup
	{"barrier.go", "		if err := session.AwaitNode(ctx, s, b.path, stat.Czxid, pace); err != nil {\n			return err\n		}\n", `		if err := session.AwaitNode(ctx, s, b.path, stat.Czxid, pace); err != nil {
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
