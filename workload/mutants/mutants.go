// Package mutants makes copies of package recipes with one deliberate defect at a time, each
// taken from a bug of a real ZooKeeper lock. They verify the verifier: a checker that does not
// catch them proves nothing about a lock that it passes.
//
// A mutant consists of a [Defect], and of edits of the recipes' source files that switch the
// defect on by its name. The files of a family of mutants, such as queue.go, hold both. Package
// recipes itself knows of no mutants: a program with mutants is built with edited copies of its
// files ([Program]), as make build-mutants does. Those copies hold all mutants. A mutant
// differs from the recipes only in its defect; with none switched on the copies behave as the
// recipes do.
package mutants

import (
	"slices"

	"github.com/zkverify/zkverify/internal/overlay"
)

// families are the mutants and their edits, each family from a file of its own.
var families = []struct {
	defects []Defect
	edits   []edit
}{
	{mutexDefects, mutexEdits},
	{evidenceDefects, evidenceEdits},
	{sessionDefects, sessionEdits},
	{cleanUpDefects, cleanUpEdits},
	{queueDefects, queueEdits},
	{readWriteDefects, readWriteEdits},
	{semaphoreDefects, semaphoreEdits},
	{multiLockDefects, multiLockEdits},
	{waitingDefects, waitingEdits},
	{fairnessDefects, fairnessEdits},
	{revocationDefects, revocationEdits},
	{barrierDefects, barrierEdits},
	{doubleBarrierDefects, doubleBarrierEdits},
	{oneClientDefects, oneClientEdits},
	{saysDefects, saysEdits},
	{freeDefects, freeEdits},
	{handoffDefects, handoffEdits},
	{deletionDefects, deletionEdits},
	{momentDefects, momentEdits},
	{extremeDefects, extremeEdits},
	{pauseDefects, pauseEdits},
	{electionDefects, electionEdits},
}

// Defects lists the mutants, by family.
func Defects() (all []Defect) {
	for _, f := range families {
		all = append(all, f.defects...)
	}
	return all
}

// Program returns zkverify with the mutants, to be built from the source below root, an
// absolute path. The error says which text of which file an edit does not find any more.
func Program(root string) (overlay.Program, error) {
	files, err := overlay.Apply(root, slices.Concat(targetEdits, recipeEdits()))
	return overlay.Program{Dir: root, Main: "./cmd/zkverify", Files: files, Flags: []string{"-trimpath"}}, err
}

// targetEdits make the targets that are mutants switch their defect on: see mutants.go there.
var targetEdits = []overlay.Edit{
	{File: "workload/targets/mutants.go", Old: "const HaveMutants = false", New: "const HaveMutants = true"},
	{File: "workload/targets/mutants.go", Old: "return nil, ErrNoMutants", New: "return []recipes.Option{recipes.WithDefect(defect)}, nil"},
}

// recipeEdits are the edits of all families.
func recipeEdits() (all []overlay.Edit) {
	edits := slices.Clone(switchEdits)
	for _, f := range families {
		edits = append(edits, f.edits...)
	}
	for _, e := range edits {
		all = append(all, overlay.Edit{File: "recipes/" + e.File, Old: e.Old, New: e.New})
	}
	return all
}

// switchEdits add the switch itself. A client's sessions know the defect, and keep the state of
// defects.
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
