package mutants

import "github.com/zkverify/zkverify/histories"

// Defect is one deliberate bug.
type Defect struct {
	Name      string           // of the target, as given on the command line
	Recipe    histories.Recipe // that it shows in, and that the target offers
	Guarantee string           // name of the checker's guarantee that must catch it
	Bug       string           // the public report or system it is drawn from
	What      string           // one line
}

// edit replaces Old, which must occur exactly once in File, a path below the recipes, by New.
type edit struct{ File, Old, New string }
