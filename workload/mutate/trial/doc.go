// Package trial puts mutants of recipes on trial: it makes runs of the bench with one
// mutant on, until a run kills the mutant or all settings are used up.
//
// A run kills a mutant when a guarantee is violated, or when the program panics. It also kills
// it when it ends without a verdict, or does not end, and a second run does so too. Before the
// first mutant, each setting has a run without a mutant, which must hold: it shows which
// mutants such a run reaches, and the others need not be run.
package trial
