package trial

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/mutate"
)

func tests(program, dir string) Tests {
	return Tests{Programs: []mutate.Tests{{Package: "recipes/internal/queue", Dir: dir, Program: program, Names: []string{"TestA", "TestB"}}}, Env: []string{"SERVERS=none"}, Patience: time.Minute}
}

func TestWhatComesOfATest(t *testing.T) {
	for _, c := range []struct {
		name, program string
		end           End
		reason        string
	}{
		{"it passes", `echo PASS`, Held, ""},
		{"it fails", `printf -- '--- FAIL: TestA (0.00s)\n    a_test.go:7: why\n    a_test.go:8: and that\nFAIL\n'; exit 1`, Failed, "a_test.go:7: why"},
		{"it fails without a word", `exit 1`, Failed, ""},
		{"it panics", `printf 'panic: why\n\ngoroutine 1' >&2; exit 2`, Panicked, "panic: why"},
		{"it races", `printf 'WARNING: DATA RACE\n--- FAIL: TestA (0.00s)\n    testing.go:1617: race detected\nFAIL\n'; exit 1`, Failed, "a data race"},
		{"it does not end", `printf 'panic: test timed out after 1m0s\n' >&2; exit 2`, Hung, "panic: test timed out after 1m0s"},
	} {
		t.Run(c.name, func(t *testing.T) {
			of := tests(script(t, c.program), t.TempDir())
			o, err := of.Run(t.Context(), Run{Setting: of.Settings()[0]})
			if err != nil || o.End != c.end || o.Reason != c.reason {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
}

func TestWhatATestIsRunWith(t *testing.T) {
	dir := t.TempDir()
	of := tests(script(t, `[ "$SERVERS $MUTANT $PWD $*" = "none 7 `+dir+` -test.run ^TestB$ -test.timeout 1m0s" ]`), dir)
	o, err := of.Run(t.Context(), Run{Setting: of.Settings()[1], Env: []string{"MUTANT=7"}})
	if err != nil || o.End != Held {
		t.Errorf("%+v, %v", o, err)
	}
	if _, err := of.Run(t.Context(), Run{Setting: Setting{Test: "recipes.TestA"}}); err == nil || !strings.Contains(err.Error(), `no package has the test "recipes.TestA"`) {
		t.Errorf("a test of another package: %v", err)
	}
}

// The race detector takes more addresses than a program may otherwise have.
func TestWhatATestIsRunWithIfRacesAreDetected(t *testing.T) {
	of := tests(script(t, `[ "$MUTANT $(ulimit -v)" = "7 unlimited" ]`), t.TempDir())
	for _, race := range []bool{true, false} {
		of.Race = race
		run := Run{Setting: of.Settings()[0], Env: []string{"MUTANT=7"}}
		if run.Race != race || strings.Contains(run.String(), "race") != race {
			t.Errorf("with races %v the setting is %s", race, run)
		}
		if o, err := of.Run(t.Context(), run); err != nil || (o.End == Held) != race {
			t.Errorf("with races %v: %+v, %v", race, o, err)
		}
	}
}

func TestATestThatIsInterruptedSaysSo(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	of := tests(script(t, `exec sleep 60`), t.TempDir())
	if o, err := of.Run(ctx, Run{Setting: of.Settings()[0]}); err == nil {
		t.Errorf("%+v", o)
	}
}
