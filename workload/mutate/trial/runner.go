package trial

import (
	"cmp"
	"context"
	"fmt"
)

// End is how a run has ended.
type End string

// The ends of a run.
const (
	Held     End = "held"     // every guarantee holds that was exercised
	Violated End = "violated" // a guarantee does not
	Panicked End = "panicked" // the program did not survive it
	Failed   End = "failed"   // a test of recipes did not pass
	Hung     End = "hung"     // it did not end
	Void     End = "void"     // it ended without a verdict: something went wrong, or could not be decided
)

// Outcome is what came of a run.
type Outcome struct {
	End        End
	Guarantees []string // that are violated
	Reason     string   // for people, if it did not hold
}

// Setting is what tells a run of a program from its other runs.
type Setting struct {
	Seed int64 `json:"seed"`
	// Recipe is the one that clients drive; "" is all that the Runner drives.
	Recipe string `json:"recipe,omitempty"`
	// Test is the one that is run, as package.Name, by [Tests]; it has no seed and no recipe.
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
	Env     []string // what its environment has besides: which mutant is on
	Dir     string   // a folder for what it leaves, which exists
}

// Runner makes runs of a program that has the mutants.
type Runner interface {
	// Name tells the runs of this runner from those of others: with the same name and
	// setting, a run is the same.
	Name() string
	// Run makes a run. Its errors are of what keeps any run from being made, or of ctx.
	Run(ctx context.Context, r Run) (Outcome, error)
}
