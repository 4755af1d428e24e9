package trackrecord

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/workload/campaign"
)

// asRun makes the test binary a stand-in for zkverify run, which leaves the folder of a run that
// ends as the option --hold says. The tests are about the use of that folder.
const asRun = "ZKVERIFY_TEST_AS_RUN"

// installed is set when the software that a run lacked has been installed.
const installed = "ZKVERIFY_TEST_INSTALLED"

func TestMain(m *testing.M) {
	if os.Getenv(asRun) != "" {
		os.Exit(leaveRun(os.Args[1:]))
	}
	os.Exit(m.Run())
}

func leaveRun(args []string) int {
	of := func(flag string) string { return args[slices.Index(args, flag)+1] }
	outcome, faults := "holds", "down"
	switch of("--hold") {
	case "missing":
		if os.Getenv(installed) == "" {
			fmt.Println("zkverify: there is no kazoo")
			return campaign.Unavailable
		}
		outcome = "violated"
	case "second": // the second seed violates
		if of("--seed") == "2" {
			outcome = "violated"
		}
	case "other fault":
		outcome, faults = "violated", "reset"
	case "void":
		outcome = "unknown"
	}
	guarantee := outcome
	if outcome == "unknown" {
		guarantee = "violated"
	}
	verdict := fmt.Sprintf(`{"outcome":%q,"reason":"so it is","verdicts":[
		{"guarantee":"fencing","outcome":%[2]q,"promised":false},
		{"guarantee":"progress","outcome":%[2]q,"promised":true,"violations":2,"witnesses":[{"what":"process 1 waits","faults":[{"name":%[3]q,"from":1}]}]}]}`, outcome, guarantee, faults)
	err := errors.Join(
		os.WriteFile(filepath.Join(of("--out"), "verdict.json"), []byte(verdict), 0o644),
		os.WriteFile(filepath.Join(of("--out"), "history.jsonl"), []byte(`{"zkverify":4,"target":"kazoo-2.8.0-lock"}`+"\n"), 0o644))
	if err != nil {
		fmt.Println(err)
		return 2
	}
	return 0
}

// script is a bug whose run ends as hold says.
func script(id, hold string) Bug {
	return Bug{ID: id, What: "it is wrong", Versions: "all", With: "kazoo 2.8.0", Needs: "apt-get install python3-kazoo", Source: []string{"lock.py:1"},
		Run: &Run{Options: []string{"--hold", hold}, Hosts: "kazoo-2.8.0-", Guarantees: []string{"progress", "fencing"}, Faults: []string{"down"}}}
}

// record runs the scripts, and returns the output, the page and the outcome.
func record(t *testing.T, ctx context.Context, c Command, bugs ...Bug) (said, page string, outcome error) {
	t.Helper()
	t.Setenv(asRun, "1")
	var out strings.Builder
	outcome = c.run(ctx, &out, "dev", &Record{bugs})
	text, err := os.ReadFile(filepath.Join(c.Out, pageFile))
	if err != nil {
		t.Fatal(err)
	}
	return out.String(), string(text), outcome
}

func TestScriptsRunUntilTheyCatchTheirBugs(t *testing.T) {
	for name, c := range map[string]struct {
		bug        Bug
		outcome    error
		says, page string
	}{
		"by the second seed": {script("A", "second"), nil, "A: caught by try 2 in ", "| A | it is wrong | lock.py:1 | all | kazoo 2.8.0 | progress | 2 |"},
		"never":              {script("A", "well"), ErrEscaped, "A: escaped 2 times, the last time: holds: so it is\n", "**escaped** | 2 |"},
		"of another fault":   {script("A", "other fault"), ErrEscaped, "A: escaped 2 times, the last time: violated: so it is\n", "It was not caught."},
		"of a void run":      {script("A", "void"), ErrIncomplete, "A: not put to the test by 3 runs, the last time: unknown: so it is\n", "not decided | 0 |"},
		"without a library":  {script("A", "missing"), ErrMissing, "A: not run, there is no kazoo; needs: apt-get install python3-kazoo\n", "| not run | 1 |"},
		"with another version": {func() Bug { b := script("A", "second"); b.Run.Hosts = "kazoo-2.9"; return b }(), ErrMissing,
			"A: not run, the lock is kazoo-2.8.0-lock, not kazoo-2.9; needs", "| not run |"},
		"that is not at hand": {Bug{ID: "A", What: "it is wrong", Versions: "old ones", NotHad: "mended long ago"}, nil, "A: not to be had: mended long ago\n", "| A | it is wrong |  | old ones | mended long ago |"},
	} {
		t.Run(name, func(t *testing.T) {
			said, page, outcome := record(t, t.Context(), Command{Tries: 2, Out: t.TempDir()}, c.bug)
			if !errors.Is(outcome, c.outcome) || !strings.Contains(said, c.says) {
				t.Errorf("%v, %s\nwant %q", outcome, said, c.says)
			}
			if !strings.Contains(page, c.page) {
				t.Errorf("no %q in\n%s", c.page, page)
			}
		})
	}
}

// Scripts that have caught their bug do not run again. Scripts that lacked software, or have seeds
// left, do.
func TestARecordContinues(t *testing.T) {
	c := Command{Tries: 2, Out: t.TempDir()}
	bugs := []Bug{script("A", "second"), script("B", "missing"), script("C", "well")}
	if _, _, outcome := record(t, t.Context(), c, bugs...); !errors.Is(outcome, ErrEscaped) {
		t.Fatal(outcome)
	}
	before, err := load(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	c.Tries = 3
	t.Setenv(installed, "1")
	said, _, _ := record(t, t.Context(), c, bugs...)
	after, err := load(c.Out)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []int{2, 1, 3} {
		if got := len(after.Results[i].Tries); got != want {
			t.Errorf("%s: %d tries, want %d", after.Results[i].Bug, got, want)
		}
	}
	if !after.Results[0].Tries[1].Started.Equal(before.Results[0].Tries[1].Started) {
		t.Error("what was caught was run again")
	}
	if !strings.Contains(said, "2 of 3 bugs were caught, 1 escaped") {
		t.Error(said)
	}
}

// An interrupted record is incomplete, and keeps the results from before.
func TestARecordThatIsInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	said, page, outcome := record(t, ctx, Command{Tries: 3, Out: t.TempDir()}, script("A", "second"))
	if !errors.Is(outcome, ErrIncomplete) || !strings.Contains(said, "1 were not tried to the end") || !strings.Contains(page, "not tried") {
		t.Errorf("%v, %s", outcome, said)
	}
}

func TestTheRecordAsJSON(t *testing.T) {
	said, _, _ := record(t, t.Context(), Command{Tries: 3, Out: t.TempDir(), JSON: true}, script("A", "second"))
	if !strings.HasPrefix(said, "{") || !strings.Contains(said, `"verdict": "progress"`) {
		t.Error(said)
	}
}

func TestBugsAreNamedAndListed(t *testing.T) {
	r := builtInRecord(t)
	var out strings.Builder
	c := Command{Bug: []string{"CURATOR-621", "ZOOKEEPER-1208"}, List: true}
	if err := c.run(t.Context(), &out, "dev", r); err != nil || strings.Count(out.String(), "\n") != 2 || !strings.Contains(out.String(), "not to be had") {
		t.Errorf("%v\n%s", err, out.String())
	}
	c.Bug = []string{"CURATOR-612"}
	var refused campaign.Refused
	if err := c.run(t.Context(), &out, "dev", r); !errors.As(err, &refused) || !strings.Contains(err.Error(), "CURATOR-621") {
		t.Error(err)
	}
}
