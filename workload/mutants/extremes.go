package mutants

import "github.com/zkverify/zkverify/histories"

// extremeDefects show at the ends of ranges.
var extremeDefects = []Defect{
	{"mutant-first-few", histories.Mutex, "mutual exclusion",
		"a list of fixed size",
		"looks at the first 64 nodes of the queue alone"},
}

// extremeEdits are the edits of extremeDefects.
var extremeEdits = []edit{
	// mutant-first-few
	{"internal/queue/lists.go", "	if errors.Is(err, zk.ErrNoNode) {\n		err = nil // no child is left\n	}\n", `	if errors.Is(err, zk.ErrNoNode) {
		err = nil // no child is left
	}
	if q.s.Defect() == "mutant-first-few" {
		children = children[:min(len(children), 64)]
	}
`},
}
