package main

// extremeEdits are defects that show at the ends of ranges.
var extremeEdits = []edit{
	// mutant-first-few
	{"internal/queue/lists.go", "	if errors.Is(err, zk.ErrNoNode) {\n		err = nil // nobody is left\n	}\n", `	if errors.Is(err, zk.ErrNoNode) {
		err = nil // nobody is left
	}
	if q.s.Defect() == "mutant-first-few" {
		children = children[:min(len(children), 64)]
	}
`},
}
