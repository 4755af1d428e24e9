package spec

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// fake is a small model: it counts to the limit, over and over.
const fake = `/*
 * switch: BUG_FAR=n the counter may go that far
 * switch: LIMIT=n where the counter stops
 */
#ifndef LIMIT
#define LIMIT 50
#endif
byte x;
active proctype p() {
	do
	:: x < LIMIT -> x++
	:: x == LIMIT -> atomic {
		x = 0; /* reached */
#ifdef BUG_FAR
		assert(x > 0)
#endif
	}
	od
}
`

// withSearch returns the fake model with these searches.
func withSearch(lines ...string) string {
	lines = append(lines, `search: "far" -DBUG_FAR => violated x>0`)
	return strings.Replace(fake, "/*\n", "/*\n * "+strings.Join(lines, "\n * ")+"\n", 1)
}

func TestAModelDeclaresItsSearches(t *testing.T) {
	m, err := parseModel("m", withSearch(`search: "all of it" quick ltl=good fair noreduce depth=7 memory=8 time=9 -DLIMIT=3 => cycle`)+"ltl good { [] (x < 9) }\n")
	if err != nil {
		t.Fatal(err)
	}
	got := m.searches[0]
	want := search{
		model: "m", name: "all of it", switches: []string{"-DLIMIT=3"}, quick: true, mode: ltl, formula: "good",
		fair: true, noReduce: true, depth: 7, memory: 8, limit: 9 * time.Second, want: cycle,
	}
	if !slices.Equal(got.switches, want.switches) {
		t.Errorf("switches %v, want %v", got.switches, want.switches)
	}
	got.switches, want.switches = nil, nil
	if got.String() != want.String() || got.expected() != want.expected() || !slices.Equal(got.panFlags(), want.panFlags()) ||
		!slices.Equal(got.compileFlags(), want.compileFlags()) || got.limit != want.limit || got.quick != want.quick {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if last := m.searches[1]; last.want != violated || last.text != "x>0" {
		t.Errorf("got %+v, want a violated assertion with x>0", last)
	}
	if want := []toggle{{"BUG_FAR", "n", "the counter may go that far"}, {"LIMIT", "n", "where the counter stops"}}; !slices.Equal(m.switches, want) {
		t.Errorf("switches %v, want %v", m.switches, want)
	}
}

func TestADeclarationThatMakesNoSenseIsRefused(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"no name":                       {withSearch(`search: quick => holds`), `m.pml:2: want search: "NAME"`},
		"no result":                     {withSearch(`search: "a" quick`), `m.pml:2: want search: "NAME"`},
		"another result":                {withSearch(`search: "a" => passes`), "the result is passes, want holds, violated [TEXT], stuck or cycle"},
		"text of no assertion":          {withSearch(`search: "a" => holds x>0`), "the result is holds x>0"},
		"an unknown word":               {withSearch(`search: "a" fast => holds`), "fast: unknown word"},
		"a word that lacks its value":   {withSearch(`search: "a" depth => holds`), "depth: unknown word"},
		"a value that is no number":     {withSearch(`search: "a" time=1m => holds`), "time=1m: want a whole number of 1 or more"},
		"two modes":                     {withSearch(`search: "a" accept progress => holds`), "a search is one of ltl=NAME, accept and progress"},
		"fair without a mode":           {withSearch(`search: "a" fair => holds`), "fair needs ltl=NAME, accept or progress"},
		"a formula that is not there":   {withSearch(`search: "a" ltl=good => holds`) + "ltl goods { [] (x < 99) }", "there is no ltl good { … }"},
		"a switch that is not declared": {withSearch(`search: "a" -DOTHER => holds`), "the switch OTHER, which no switch: line declares"},
		"two of one name":               {withSearch(`search: "far" => holds`), `two searches "far"`},
		"a switch without a meaning":    {withSearch(`switch: LIMIT`), "want switch: NAME[=VALUE] WHAT IT CHANGES"},
		"a bug that no search shows":    {withSearch(`switch: BUG_NEAR is never used`), "no search shows what is wrong with BUG_NEAR"},
		"no search":                     {fake, "m.pml declares no search"},
		"no mark":                       {strings.ReplaceAll(withSearch(), "/* reached */", ""), "marks no line /* reached */"},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := parseModel("m", c.text); err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
		})
	}
}
