package main

import "slices"

// edits make package mutants of package recipes. A defect is in force when the
// client was opened with its name. What is edited for the mutants of one family
// is in edits_<family>.go.
var edits = slices.Concat(
	switchEdits,
	mutexEdits,
	evidenceEdits,
	sessionEdits,
	cleanUpEdits,
	queueEdits,
	readWriteEdits,
	semaphoreEdits,
	multiLockEdits,
	waitingEdits,
	fairnessEdits,
	revocationEdits,
	barrierEdits,
	doubleBarrierEdits,
	oneClientEdits,
	saysEdits,
	freeEdits,
	handoffEdits,
	deletionEdits,
	momentEdits,
	extremeEdits,
	pauseEdits,
	electionEdits,
)

// switchEdits are the switch itself. A client's sessions know the defect, and keep
// what defects remember.
var switchEdits = []edit{
	{"options.go", "// Option configures a Client.", `// WithDefect switches a defect on, by the name of its mutant.
func WithDefect(name string) Option { return func(c *config) { c.Config.Defect = name } }

// Option configures a Client.`},
	{"internal/session/config.go", "type Config struct {", "type Config struct {\n	Defect string"},
	{"internal/session/common.go", "	\"sync/atomic\"\n", "	\"sync\"\n	\"sync/atomic\"\n"},
	{"internal/session/common.go", "type common struct {\n", `type common struct {
	Kept  sync.Map // what a defect keeps, by path
	Stale sync.Map // what a defect remembers of a path
`},
	{"internal/session/session.go", "// Keep returns", `// Defect is the defect in force.
func (s *Session) Defect() string { return s.cfg.Defect }

// End is end, for defects.
func (s *Session) End(why Loss) { s.end(why) }

// Keep returns`},
	{"lease.go", "	\"github.com/zkverify/zkverify/recipes/internal/session\"\n", "	\"github.com/zkverify/zkverify/recipes/internal/queue\"\n	\"github.com/zkverify/zkverify/recipes/internal/session\"\n"},
}
