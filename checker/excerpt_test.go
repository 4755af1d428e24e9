package checker

import (
	"context"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/checker/internal/drawn"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// few makes histories of more than that many events be explained and shrunk by excerpts.
func few(events int) Option { return func(c *check) { c.inMemory, c.excerpts = events, true } }

// toldAlike compares the explanation of a violation from an excerpt with that from the whole
// history.
func toldAlike(t rapid.TB, h *histories.History, guarantee string, events int, opts ...Option) {
	t.Helper()
	want, err := Explain(context.Background(), h, guarantee, opts...)
	if err != nil {
		t.Fatal(err)
	}
	got, err := Explain(context.Background(), h, guarantee, append(opts, few(events))...)
	if err != nil {
		t.Fatal(err)
	}
	if len(got.excerpt.Events) == len(h.Events) && len(h.Events) > 200 {
		t.Errorf("%s: the excerpt is the whole of %d events", guarantee, len(h.Events))
	}
	if d := cmp.Diff([]any{want.Witness, want.Fencing, want.Story}, []any{got.Witness, got.Fencing, got.Story}); d != "" {
		t.Fatalf("%s, by %d events around it: %s\n%s", guarantee, events/8, d, drawn.Text(h))
	}
}

func TestAViolationIsToldFromAnExcerptAsFromTheWholeHistory(t *testing.T) {
	long, err := histories.ReadFile(filepath.Join("testdata", "zk-lock.jsonl.zst"))
	if err != nil {
		t.Fatal(err)
	}
	all := []*histories.History{long, haystack(t, 400, doubleHold), haystack(t, 400, overtaking), haystack(t, 400, oldToken)}
	for _, h := range readCorpus(t) {
		all = append(all, h)
	}
	told := 0
	for _, h := range all {
		opt := WithReleaseNotHeld(ReleaseNotHeld(h.Header.Options["release-not-held"]))
		for _, guarantee := range violated(t, h, opt) {
			for _, events := range []int{0, 8, 64} {
				toldAlike(t, h, guarantee, events, opt)
				told++
			}
		}
	}
	if told < 100 {
		t.Errorf("%d violations", told)
	}
}

func TestADrawnViolationIsToldFromAnExcerptAsFromTheWholeHistory(t *testing.T) {
	for _, f := range drawn.Families {
		t.Run(f.Name, func(t *testing.T) {
			drawn.Checks(t, 200, func(t *rapid.T) {
				h := drawn.History(t, f.Recipes...)
				for _, guarantee := range violated(t, h) {
					toldAlike(t, h, guarantee, rapid.IntRange(0, 24).Draw(t, "in memory"))
				}
			})
		})
	}
}

func TestAnExcerptShrinksToAViolationOfTheWholeHistory(t *testing.T) {
	for _, h := range readCorpus(t) {
		opt := WithReleaseNotHeld(ReleaseNotHeld(h.Header.Options["release-not-held"]))
		for _, guarantee := range violated(t, h, opt) {
			shrinksTruly(t, h, guarantee, opt, few(8))
		}
	}
	for _, f := range drawn.Families {
		t.Run(f.Name, func(t *testing.T) {
			drawn.Checks(t, 100, func(t *rapid.T) {
				h := drawn.History(t, f.Recipes...)
				for _, guarantee := range violated(t, h) {
					shrinksTruly(t, h, guarantee, few(rapid.IntRange(0, 24).Draw(t, "in memory")))
				}
			})
		})
	}
	t.Run("counters", func(t *testing.T) {
		drawn.Checks(t, 100, func(t *rapid.T) {
			h := drawCounters(t)
			for _, guarantee := range violated(t, h) {
				shrinksTruly(t, h, guarantee, few(rapid.IntRange(0, 24).Draw(t, "in memory")))
			}
		})
	})
}

// The size of an excerpt depends on the events around the violation, not on the length of the
// history.
func TestAnExcerptDoesNotGrowWithTheHistory(t *testing.T) {
	for name, bad := range map[string]func(*run, int, int){"mutual exclusion": doubleHold, "fairness": overtaking, "fencing": oldToken} {
		var lengths []int
		for _, cycles := range []int{200, 2000} {
			h := haystack(t, cycles, bad)
			x, err := Explain(context.Background(), h, "", few(64))
			if err != nil {
				t.Fatal(err)
			}
			if !slices.IsSorted(x.excerpt.At) {
				t.Errorf("%s: out of order: %v", name, x.excerpt.At)
			}
			lengths = append(lengths, len(x.excerpt.Events))
			before := len(h.Events)
			small, err := Shrink(context.Background(), h, "", func(left int) {
				if left > 100 {
					t.Errorf("%s: %d of %d events were shrunk", name, left, before)
				}
			}, few(64))
			if err != nil || operations(small) > 4 || small.Header.Shrunk.Events != before {
				t.Errorf("%s: %v, %+v", name, err, small)
			}
		}
		if lengths[0] != lengths[1] || lengths[0] > 100 {
			t.Errorf("%s: excerpts of %v events", name, lengths)
		}
	}
}

// The picture of an excerpt has the contents of that of the whole history, and names the same
// lines.
func TestAPictureOfAnExcerptNamesTheLinesOfTheHistory(t *testing.T) {
	h := haystack(t, 400, doubleHold)
	var pages []string
	var parties []verdict.Party
	for _, opts := range [][]Option{nil, {few(64)}} {
		x, err := Explain(context.Background(), h, MutualExclusion, opts...)
		if err != nil {
			t.Fatal(err)
		}
		var page strings.Builder
		if err := x.Picture(context.Background(), &page); err != nil {
			t.Fatal(err)
		}
		pages, parties = append(pages, page.String()), x.Witness.Parties
	}
	lines := regexp.MustCompile(`[Ll]ine (\d+) of the history`)
	named := func(page string) map[string]bool {
		all := map[string]bool{}
		for _, m := range lines.FindAllStringSubmatch(page, -1) {
			all[m[1]] = true
		}
		return all
	}
	whole, part := named(pages[0]), named(pages[1])
	if len(part) < 4 || len(part) >= len(whole) {
		t.Errorf("%d lines are named, %d of the whole history", len(part), len(whole))
	}
	for _, p := range parties {
		if line := strconv.Itoa(p.Line); !whole[line] || !part[line] {
			t.Errorf("line %s of %v is not named", line, p)
		}
	}
}
