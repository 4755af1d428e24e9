package mutants

import "github.com/zkverify/zkverify/histories"

// freeDefects leave a released lock in the way of other clients.
var freeDefects = []Defect{
	{"mutant-release-unanswered", histories.Mutex, "progress",
		"a delete in the background",
		"Release returns before the servers have answered its delete"},
	{"mutant-moody-try", histories.Mutex, "progress",
		"a try that does not tell its own node from another's",
		"one in fifty tries of a free lock is refused"},
	{"mutant-close-leaves-session", histories.Mutex, "progress",
		"a connection that is dropped instead of closed",
		"Close leaves it to the servers to end the session, and what it held waits for that"},
	{"mutant-goroutine-per-wait", histories.Mutex, "no leak",
		"a wait that is ended by the session alone",
		"each cancelled wait leaves a goroutine until the session ends"},
}

// freeEdits are the edits of freeDefects.
var freeEdits = []edit{
	// mutant-release-unanswered
	{"lease.go", "	if err := h.Release(false); errors.Is(err, zk.ErrNoNode) {\n", `	if h.S.Defect() == "mutant-release-unanswered" {
		h.S.Spawn(func() { _ = h.Release(false) })
		return
	}
	if err := h.Release(false); errors.Is(err, zk.ErrNoNode) {
`},

	// mutant-goroutine-per-wait
	{"internal/queue/contender.go", "			err = c.awaitOther(ctx, v.other, v.next)\n		}\n		if err != nil {\n", `			err = c.awaitOther(ctx, v.other, v.next)
		}
		if ctx.Err() != nil && c.S.Defect() == "mutant-goroutine-per-wait" {
			c.S.Spawn(func() { <-c.S.Ended })
		}
		if err != nil {
`},

	// mutant-moody-try
	{"internal/queue/contender.go", "		case v.granted:\n			return nil\n", `		case v.granted && !block && c.S.Defect() == "mutant-moody-try" && rand.IntN(50) == 0:
			return ErrNotAcquired
		case v.granted:
			return nil
`},

	// mutant-close-leaves-session
	{"internal/session/keeper.go", "	k.stop()\n	if s != nil {\n		s.", `	k.stop()
	if s != nil {
		if k.cfg.Defect == "mutant-close-leaves-session" {
			s.stop() // it connects no more
			s.reconnect()
		}
		s.`},
}
