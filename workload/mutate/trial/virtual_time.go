package trial

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/simulation"
)

// VirtualTime makes runs in virtual time, as zkverify sim does.
type VirtualTime struct {
	Spec     simulation.Spec // common to all runs
	Plans    []string        // of the runs, in turn by seed
	Version  string          // the version that the program reports
	Patience time.Duration   // longest real time of a run; a quarter of it for a single recipe
}

// Name implements Runner.
func (v VirtualTime) Name() string {
	return fmt.Sprintf("zkverify %s; plans %s", v.Spec.Command(), strings.Join(v.Plans, ", "))
}

// plan returns the plan of a seed.
func (v VirtualTime) plan(seed int64) string {
	return v.Plans[uint64(seed)%uint64(len(v.Plans))]
}

// Run implements Runner.
func (v VirtualTime) Run(ctx context.Context, run Run) (Outcome, error) {
	program, err := bounded(run)
	if err != nil {
		return Outcome{}, err
	}
	spec, patience := v.Spec, v.Patience
	spec.Seed, spec.Plan = run.Seed, v.plan(run.Seed)
	if run.Recipe != "" {
		spec.Recipes, patience = []string{run.Recipe}, v.Patience/4
	}
	fleet := simulation.Fleet{Subprocess: campaign.Subprocess{Command: append(program, "sim-run"), Version: v.Version, Patience: patience}, Jobs: 1}
	dir := filepath.Join(run.Dir, "run")
	o, err := fleet.Run(ctx, spec, dir)
	if err != nil {
		return Outcome{}, err
	}
	if o.Trouble != "" {
		return troubled(o, dir)
	}
	switch o.Outcome {
	case verdict.Violated:
		return Outcome{End: Violated, Guarantees: o.Violated, Reason: o.Reason}, nil
	case verdict.Unknown:
		return Outcome{End: Void, Reason: o.Reason}, nil
	}
	return Outcome{End: Held}, nil // all guarantees that were exercised hold
}

// troubled returns the outcome of a run that has failed, from the output of its process.
func troubled(o simulation.Outcome, dir string) (Outcome, error) {
	if strings.Contains(o.Trouble, "did not end within") {
		return Outcome{End: Hung, Reason: o.Trouble}, nil
	}
	printed, err := os.ReadFile(filepath.Join(dir, campaign.StacksFile))
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Outcome{}, err
	}
	if why := panicOf(string(printed)); why != "" {
		return Outcome{End: Panicked, Reason: why}, nil
	}
	return Outcome{End: Void, Reason: o.Trouble}, nil
}
