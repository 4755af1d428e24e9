// Package selftest verifies the verifier. A checker that finds no violation has proved nothing
// until it is known to find violations: so every mutant, a copy of the recipes with one
// deliberate bug, is put through a run that provokes the bug, on real servers, and must be
// caught by the guarantee that the bug breaks; and the unmutated recipes go through the very
// same runs, and must pass.
//
// A [Provocation] is such a run. The provocations are in the files
// provocations_<family>.go. [Run] carries them out one after the other; a [Matrix]
// has the results.
package selftest
