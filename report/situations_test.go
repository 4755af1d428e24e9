package report

import (
	"bytes"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories/situations"
)

// tells returns all that a night tells about itself.
func tells(t *testing.T, n *Night) (summary, markdown, page string) {
	t.Helper()
	var html bytes.Buffer
	if err := n.WriteHTML(&html); err != nil {
		t.Fatal(err)
	}
	return n.Summary("nights"), n.Markdown("nights"), html.String()
}

func TestANightTellsWhichSituationsItMissed(t *testing.T) {
	n := aNight()
	n.Situations = situations.Counts{"fence-refuses": 0, "cancelled-at-its-turn": 3, "invented": 0}
	const missed = "1 of 2 situations did not occur: fence-refuses"
	summary, markdown, page := tells(t, n)
	if !strings.Contains(summary, missed) || !strings.Contains(markdown, missed) {
		t.Errorf("a night that missed one tells\n%s\n%s", summary, markdown)
	}
	never := strings.Index(page, `<th scope="row">fence-refuses</th><td>a fence refuses the write`)
	if reached := strings.Index(page, "cancelled-at-its-turn"); never < 0 || reached < never || strings.Contains(page, "invented") || strings.Count(page, ">never<") != 1 {
		t.Errorf("the page has the missed situation at %d, the other one at %d", never, reached)
	}
	n.Situations["fence-refuses"]++
	for name, counts := range map[string]situations.Counts{"all": n.Situations, "none that was counted": nil} {
		n.Situations = counts
		summary, markdown, page := tells(t, n)
		if strings.Contains(summary+markdown, "did not occur: ") || strings.Contains(page, ">never<") || strings.Contains(page, `id="situations"`) != (counts != nil) {
			t.Errorf("%s: %s\n%s", name, summary, markdown)
		}
	}
}

// A night has the situations of all its runs, and one that is merged those of its parts.
func TestANightSumsTheSituationsOfItsRuns(t *testing.T) {
	night := func(first int64, times ...int) *Night {
		n := aNight()
		n.Results = nil
		for i, k := range times {
			n.Add(&NightResult{Seed: first + int64(i), report: &checker.Report{Situations: situations.Counts{"fence-refuses": k}}})
		}
		return n
	}
	merged, err := MergeNights([]*Night{night(100, 1, 0), night(103, 2)})
	if err != nil || merged.Situations["fence-refuses"] != 3 {
		t.Errorf("%v, %v", merged.Situations, err)
	}
}

func TestTheRarestSituationComesFirst(t *testing.T) {
	var b bytes.Buffer
	if err := SituationTable(&b, situations.Counts{"fence-refuses": 12, "cancelled-at-its-turn": 2}); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(b.String(), "\n")
	if len(lines) != 3 || !strings.HasPrefix(lines[0], "       2  cancelled-at-its-turn: an acquire fails") || !strings.HasPrefix(lines[1], "      12  fence-refuses") {
		t.Errorf("%q", lines)
	}
}
