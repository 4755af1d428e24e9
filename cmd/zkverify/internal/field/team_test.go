package field

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/workload/campaign"
)

// judging returns a runner whose runs have these verdicts, one after the other; all further runs
// have the last one. Each run leaves a line in dir/made.
func judging(t *testing.T, dir string, verdicts ...string) runner {
	t.Helper()
	program, all := filepath.Join(dir, "program"), filepath.Join(dir, "verdicts")
	text := fmt.Sprintf(`for out; do :; done # the last argument
echo >>%[1]s/made
made=$(wc -l <%[1]s/made)
[ "$made" -le %[2]d ] || made=%[2]d
sed -n "${made}p" %[3]s >"$out/verdict.json"
`, dir, len(verdicts), all)
	for name, text := range map[string]string{program: text, all: strings.Join(verdicts, "\n") + "\n"} {
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return runner{Program: campaign.Program{Path: "/bin/sh", Before: []string{program}}, Campaign: &campaign.Campaign{}, dir: dir}
}

// A run that shows nothing, such as one on a machine that was too busy, is repeated, but not
// without end, and not after the time is up.
func TestARunThatShowsNothingIsMadeAgain(t *testing.T) {
	for name, c := range map[string]struct {
		limit   time.Duration
		decides int // number of the first run that is decided
		made    int
		outcome verdict.Outcome
	}{
		"the first decides":  {decides: 1, made: 1, outcome: verdict.Holds},
		"the second decides": {decides: 2, made: 2, outcome: verdict.Holds},
		"none decides":       {decides: 9, made: 1 + campaign.Repeats, outcome: verdict.Unknown},
		"the time is up":     {limit: 1, decides: 2, made: 1, outcome: verdict.Unknown},
	} {
		dir := t.TempDir()
		undecided := make([]string, c.decides-1)
		for i := range undecided {
			undecided[i] = `{"outcome":"unknown","reason":"busy"}`
		}
		var out bytes.Buffer
		f := builtInField(t)
		team := &team{runner: judging(t, dir, append(undecided, `{"outcome":"holds"}`)...), out: &out}
		team.For, team.Say = c.limit, func(text string) { fmt.Fprintln(&out, text) }
		result, err := team.result(t.Context(), f.planned([]string{"recipes/Mutex"}, []string{"no faults"}, 1, 1)[0])
		if err != nil {
			t.Fatal(err)
		}
		made, err := os.ReadFile(filepath.Join(dir, "made"))
		if err != nil {
			t.Fatal(err)
		}
		if result.Outcome != c.outcome || len(made) != c.made || strings.Count(out.String(), "busy: it is made again") != c.made-1 {
			t.Errorf("%s: %s after %d runs\n%s", name, result.Outcome, len(made), &out)
		}
	}
}
