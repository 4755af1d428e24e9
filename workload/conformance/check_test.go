package conformance

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/child"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// The tests share servers.
var pool ensembletest.Pool

func TestMain(m *testing.M) {
	if name := os.Getenv(wrongEnv); name != "" {
		beWrong(name)
	}
	code := m.Run()
	_ = pool.Close()
	if err := goleak.Find(); err != nil && code == 0 {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

func servers(t *testing.T) ensemble.Ensemble {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	return pool.Of(t)
}

// workerThat returns the command of the worker that is wrong in a way.
func workerThat(name string) []string {
	return []string{"/usr/bin/env", wrongEnv + "=" + name, os.Args[0]}
}

// run checks a worker that is wrong in a way, and logs what was found.
func run(t *testing.T, ctx context.Context, local ensemble.Ensemble, name string, steps ...string) []Step {
	t.Helper()
	patience := 4 * time.Second
	if _, is := worst[name]; is {
		patience = time.Minute // a slow machine reads for long before it has read too much
	}
	made, err := Check(ctx, Config{
		Command: workerThat(name), Ensemble: local, Logs: t.TempDir(), SessionTimeout: 3 * time.Second, Patience: patience, Steps: steps,
		Told: func(s Step) {
			t.Logf("%s: %v", s.Name, s.Took.Round(time.Millisecond))
			for _, w := range s.Wrong {
				t.Logf("  sent %s\n  expected %s\n  came %s\n  stderr %s", w.Sent, w.Expected, w.Came, w.Stderr)
			}
		},
	})
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func TestWorkersThatDoAllRight(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	ensembletest.Real(t, "what the check wants of a worker is what real servers tell it")
	t.Parallel()
	local := servers(t)
	for name, atLeast := range map[string]int{"right": 17, "everything": 40} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := run(t, t.Context(), local, name)
			if len(made) < atLeast {
				t.Errorf("%d steps, want at least %d", len(made), atLeast)
			}
			for _, s := range made {
				if !s.OK() || s.Missing != "" {
					t.Errorf("%s is wrong: %+v, %s", s.Name, s.Wrong, s.Missing)
				}
			}
		})
	}
}

func TestEachWayToBeWrongIsNamed(t *testing.T) {
	t.Parallel()
	local := servers(t)
	for name, way := range ways {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			step := way.step
			if step == "hello" || step == "lines" {
				step = "pipelining" // so that an answer that comes twice has come twice before the end
			}
			found := false
			for _, s := range run(t, t.Context(), local, name, step) {
				for _, w := range s.Wrong {
					if s.Name == way.step && strings.Contains(w.Expected, way.expected) {
						found = true
					} else {
						t.Errorf("it is found wrong in %s too: expected %s, came %s", s.Name, w.Expected, w.Came)
					}
				}
			}
			if !found {
				t.Errorf("no report on %s: expected %s", way.step, way.expected)
			}
		})
	}
}

func TestAWorkerAtItsWorstIsNamedToo(t *testing.T) {
	t.Parallel()
	local := servers(t)
	for name, way := range worst {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			made := run(t, t.Context(), local, name, "echo")
			lines := made[len(made)-1]
			if lines.Name != "lines" || !slices.ContainsFunc(lines.Wrong, func(w Wrong) bool { return strings.Contains(w.Expected, way.expected) }) {
				t.Errorf("the steps are %+v; no report on lines: expected %s", made, way.expected)
			}
		})
	}
}

// Only the write of the command blocks when a worker leaves its input unread.
func TestAWorkerThatDoesNotReadIsNotWaitedForInVain(t *testing.T) {
	spawner := child.NewSpawner()
	defer spawner.Close()
	p, err := start(spawner, []string{"sleep", "300"}, filepath.Join(t.TempDir(), "log"), time.Millisecond, func(string, string) {})
	if err != nil {
		t.Fatal(err)
	}
	p.write(bytes.Repeat([]byte("x"), 1<<20))
	if err := p.end(); err != nil {
		t.Error(err)
	}
}

func TestACommandThatCannotBeStartedIsWrong(t *testing.T) {
	local := servers(t)
	for _, command := range [][]string{{"/no/such/worker"}, {"/bin/sh", "-c", "echo no license found >&2; exit 3"}} {
		made, err := Check(t.Context(), Config{Command: command, Ensemble: local, Logs: t.TempDir()})
		if err != nil || len(made) != 1 || made[0].OK() {
			t.Errorf("%v: %+v, error %v; want hello to be wrong, and no other step", command, made, err)
		}
		if w := made[0].Wrong[0]; len(command) > 1 && (!strings.Contains(w.Stderr, "no license found") || !strings.Contains(w.Came, "exit status 3")) {
			t.Errorf("its last words are missing: %+v", w)
		}
	}
}

func TestACheckThatIsInterruptedEndsAtOnce(t *testing.T) {
	local := servers(t)
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	_, err := Check(ctx, Config{
		Command: workerThat("no echo"), Ensemble: local, Logs: t.TempDir(), Patience: time.Hour,
		Told: func(Step) { time.AfterFunc(100*time.Millisecond, func() { cancel(enough) }) },
	})
	if !errors.Is(err, enough) {
		t.Errorf("error %v, want that of the context", err)
	}
}

func TestAnUnknownStepIsRefused(t *testing.T) {
	if _, err := Check(t.Context(), Config{Command: workerThat("right"), Ensemble: servers(t), Logs: t.TempDir(), Steps: []string{"cancle"}}); err == nil || !strings.Contains(err.Error(), "cancel") {
		t.Errorf("error %v; want one that names the steps", err)
	}
}
