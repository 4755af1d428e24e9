// Package mutate makes mutants of package recipes systematically: at every place of its
// production code where an operator applies, the operator changes the code. A mutant that no
// run of the bench catches shows a gap of the bench.
//
// All mutants are in one program. The package writes copies of the source files in which each
// mutated place asks for the number of the mutant that is on, which the environment variable
// ZKVERIFY_MUTANT holds, and builds zkverify with the copies in place of the files (go build
// -overlay). With no mutant on, the program behaves as without the copies. Package recipes has
// no hooks, and its files stay as they are.
//
//	p, err := mutate.Load(ctx, dir)     // the source, and every mutant of it that compiles
//	err = p.Build(ctx, folder, program) // the program with all of them
package mutate
