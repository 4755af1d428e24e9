// Package mutants is package recipes with one deliberate defect at a time, each
// taken from a bug that a ZooKeeper lock really had. They verify the verifier:
// a checker that does not catch them proves nothing about a lock it passes.
//
// The files mutated_*.go are generated from package recipes by the edits in
// gen/edits_*.go, so that a mutant differs from the real thing in its defect and
// in nothing else, and package recipes itself knows of no mutants. Without
// [WithDefect] the package behaves as recipes does.
package mutants

//go:generate go run ./gen -dir ../..

import "slices"

// Defects lists the mutants, by family: those of one are in defects_<family>.go.
func Defects() []Defect {
	return slices.Concat(
		mutexDefects,
		evidenceDefects,
		sessionDefects,
		cleanUpDefects,
		queueDefects,
		readWriteDefects,
		semaphoreDefects,
		multiLockDefects,
		waitingDefects,
		fairnessDefects,
		revocationDefects,
		barrierDefects,
		doubleBarrierDefects,
		oneClientDefects,
		saysDefects,
		freeDefects,
		handoffDefects,
		deletionDefects,
		momentDefects,
		extremeDefects,
		pauseDefects,
		electionDefects,
	)
}
