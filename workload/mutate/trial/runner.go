package trial

import (
	"cmp"
	"context"
	"fmt"
)

// End is the way in which a run has ended.
type End string

// The ends of a run.
const (
	Held     End = "held"     // every guarantee that was exercised holds
	Violated End = "violated" // a guarantee is violated
	Panicked End = "panicked" // the program crashed
	Failed   End = "failed"   // a test of recipes did not pass
	Hung     End = "hung"     // it did not end
	Void     End = "void"     // it ended without a verdict: it failed, or could not be decided
)

// Outcome is the result of a run.
type Outcome struct {
	End        End
	Guarantees []string // that are violated
	Reason     string   // for people, if it did not hold
}

// Setting distinguishes a run of a program from its other runs.
type Setting struct {
	Seed int64 `json:"seed"`
	// Recipe is the recipe that clients drive; "" stands for all that the Runner drives.
	Recipe string `json:"recipe,omitempty"`
	// Test is the test that [Tests] runs, as package.Name; it has no seed and no recipe.
	Test string `json:"test,omitempty"`
	// Race says that the test is run with the race detector.
	Race bool `json:"race,omitempty"`
}

func (s Setting) String() string {
	switch {
	case s.Race:
		return s.Test + " with the race detector"
	case s.Test != "":
		return s.Test
	}
	return fmt.Sprintf("seed %d of %s", s.Seed, cmp.Or(s.Recipe, "all recipes"))
}

// Run is one run.
type Run struct {
	Setting
	Program string   // the program with the mutants
	Env     []string // additional environment: the mutant that is on
	Dir     string   // a folder for its files, which exists
}

// Runner makes runs of a program that has the mutants.
type Runner interface {
	// Name distinguishes the runs of this runner from those of others: with the same name and
	// setting, a run is the same.
	Name() string
	// Run makes a run. It returns an error if no run can be made, or if ctx ends.
	Run(ctx context.Context, r Run) (Outcome, error)
}
