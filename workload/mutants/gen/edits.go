package main

import "slices"

// edits make package mutants of package recipes. A defect is in force when the
// client was opened with its name. What is edited for the mutants of one family
// is in edits_<family>.go.
var edits = slices.Concat(
	switchEdits,
	mutexEdits,
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
	householdEdits,
	saysEdits,
	freeEdits,
	handoffEdits,
	deletionEdits,
	momentEdits,
	extremeEdits,
	pauseEdits,
)

// switchEdits are the switch itself.
var switchEdits = []edit{
	{"options.go", "type config struct {", "type config struct {\n\tdefect string"},
	{"options.go", "// Option configures a Client.", `// WithDefect switches a defect on, by the name of its mutant.
func WithDefect(name string) Option { return func(c *config) { c.defect = name } }

// Option configures a Client.`},
	{"client.go", "	connection connection\n", `	connection connection
	kept       sync.Map // what a defect keeps, by path
`},
}
