// Package mutate makes mutants of package recipes that no hand has chosen: at every
// place of its production code where an operator applies, the code is changed as the
// operator says. A mutant that no run of the bench catches shows what the bench does
// not see.
//
// All mutants are in one program. The package writes copies of the source files in
// which each mutated place asks for the number of the mutant that is on, which the
// environment variable ZKVERIFY_MUTANT holds, and builds zkverify with the copies in
// place of the files (go build -overlay). With no mutant on, the program does what it
// does without them. Package recipes has no hooks, and its files stay as they are.
//
//	p, err := mutate.Load(ctx, dir)     // the source, and every mutant of it that compiles
//	err = p.Build(ctx, folder, program) // the program with all of them
package mutate
