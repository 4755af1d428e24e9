// Package mutants is package recipes with one deliberate defect at a time, each
// taken from a bug that a ZooKeeper lock really had. They verify the verifier:
// a checker that does not catch them proves nothing about a lock it passes.
//
// The files mutated_*.go are generated from package recipes by the edits in
// gen/edits.go, so that a mutant differs from the real thing in its defect and
// in nothing else, and package recipes itself knows of no mutants. Without
// [WithDefect] the package behaves as recipes does.
package mutants

//go:generate go run ./gen -dir ../..

// Defect is one deliberate bug.
type Defect struct {
	Name      string // of the target, as given on the command line
	Bug       string // the public report or system it is drawn from
	What      string // one line
	Guarantee string // name of the checker's guarantee that must catch it
}

// Defects lists the mutants.
func Defects() []Defect {
	return []Defect{
		{
			Name:      "mutant-read-heartbeat",
			Bug:       "Curator's and every stock client's view of the link",
			What:      "takes any answer of its server for a heartbeat, also that of a follower cut off from its leader",
			Guarantee: "mutual exclusion",
		},
		{
			Name:      "mutant-no-session-check",
			Bug:       "etcd #11456",
			What:      "does not look at its session again after the wait: an expiry ends the wait, and looks like its turn",
			Guarantee: "mutual exclusion",
		},
		{
			Name:      "mutant-inner-release",
			Bug:       "kazoo #291",
			What:      "the release of a re-entry deletes the lock node of the outer hold",
			Guarantee: "reentrancy",
		},
		{
			Name:      "mutant-delete-by-name",
			Bug:       "etcd #22082",
			What:      "the release of a lease that was lost deletes whatever node holds the lock now",
			Guarantee: "mutual exclusion",
		},
	}
}
