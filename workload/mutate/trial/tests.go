package trial

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/workload/mutate"
)

// Tests runs tests of the packages that have the mutants, one in each run.
type Tests struct {
	Programs []mutate.Tests
	Env      []string      // of the tests, besides that of this process
	Patience time.Duration // with a test: a test that takes longer is hung
	Race     bool          // the programs are built with the race detector
}

// Name implements Runner.
func (t Tests) Name() string {
	return fmt.Sprintf("go test, %s", strings.Join(t.Env, " "))
}

// Settings returns a setting for each test.
func (t Tests) Settings() (all []Setting) {
	for _, p := range t.Programs {
		for _, name := range p.Names {
			all = append(all, Setting{Test: p.Package + "." + name, Race: t.Race})
		}
	}
	return all
}

// Run implements Runner.
func (t Tests) Run(ctx context.Context, run Run) (Outcome, error) {
	at := strings.LastIndex(run.Test, ".")
	i := slices.IndexFunc(t.Programs, func(p mutate.Tests) bool { return at > 0 && p.Package == run.Test[:at] })
	if i < 0 {
		return Outcome{}, fmt.Errorf("no package has the test %q", run.Test)
	}
	run.Program, run.Env = t.Programs[i].Program, append(slices.Clone(t.Env), run.Env...)
	command, err := t.command(run)
	if err != nil {
		return Outcome{}, err
	}
	command = append(command, "-test.run", "^"+run.Test[at+1:]+"$", "-test.timeout", t.Patience.String())
	test := exec.CommandContext(ctx, command[0], command[1:]...)
	test.Dir, test.WaitDelay = t.Programs[i].Dir, time.Second
	out, err := test.CombinedOutput()
	var failed *exec.ExitError
	switch {
	case ctx.Err() != nil:
		return Outcome{}, context.Cause(ctx)
	case err == nil:
		return Outcome{End: Held}, nil
	case !errors.As(err, &failed):
		return Outcome{}, err
	}
	return ofTest(string(out)), nil
}

// command returns the command that runs a test's program.
func (t Tests) command(run Run) ([]string, error) {
	if t.Race { // it takes more addresses than there is memory
		return append(append([]string{"env"}, run.Env...), run.Program), nil
	}
	return bounded(run)
}

// said matches the first message of a test that fails.
var said = regexp.MustCompile(`(?m)^ +\S+_test\.go:\d+: .*$`)

// ofTest returns the outcome of a test that did not pass, from its output.
func ofTest(printed string) Outcome {
	switch why := panicOf(printed); {
	case strings.HasPrefix(why, "panic: test timed out"):
		return Outcome{End: Hung, Reason: why}
	case why != "":
		return Outcome{End: Panicked, Reason: why}
	case strings.Contains(printed, "WARNING: DATA RACE"):
		return Outcome{End: Failed, Reason: "a data race"}
	}
	return Outcome{End: Failed, Reason: strings.TrimSpace(said.FindString(printed))}
}
