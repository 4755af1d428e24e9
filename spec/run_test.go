package spec

import (
	"errors"
	"io"
	"strings"
	"testing"
)

// needSpin skips a test that makes searches if the machine cannot make them.
func needSpin(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("searches with spin, which a machine for short tests need not have")
	}
	if err := findTools(); err != nil {
		t.Skip(err)
	}
}

// searchOf makes the first search of a model.
func searchOf(t *testing.T, text string) (found, error) {
	t.Helper()
	m, err := parseModel("m", text)
	if err != nil {
		t.Fatal(err)
	}
	return m.run(t.Context(), m.searches[0])
}

func TestASearchFindsWhatThereIs(t *testing.T) {
	needSpin(t)
	const end = "x == LIMIT -> atomic"
	for name, c := range map[string]struct {
		text string
		want result
	}{
		"nothing":                         {withSearch(`search: "a" quick => holds`), holds},
		"nothing, in one step":            {strings.Replace(withSearch(`search: "a" quick => holds`), "atomic", "d_step", 1), holds},
		"a violated assertion":            {withSearch(`search: "a" quick -DBUG_FAR => violated x > 0`), violated},
		"a state without a next step":     {strings.Replace(withSearch(`search: "a" quick => stuck`), end, "x == 99 -> atomic", 1), stuck},
		"a formula that is false":         {withSearch(`search: "a" quick ltl=good => cycle`) + "ltl good { <>[] (x < 9) }\n", cycle},
		"a formula that is true":          {withSearch(`search: "a" quick ltl=good => holds`) + "ltl good { []<> (x == 9) }\n", holds},
		"another formula than the first":  {withSearch(`search: "a" quick ltl=good => holds`) + "ltl bad { [] (x < 9) }\nltl good { []<> (x == 9) }\n", holds},
		"a formula that is not asked for": {withSearch(`search: "a" quick => holds`) + "ltl bad { [] (x < 9) }\n", holds},
		"a run that accepts":              {strings.Replace(withSearch(`search: "a" quick accept => cycle`), "x++", "x++; accept: skip", 1), cycle},
		"a run without progress":          {withSearch(`search: "a" quick progress => cycle`), cycle},
		"progress":                        {strings.Replace(withSearch(`search: "a" quick progress => holds`), "x++", "x++; progress: skip", 1), holds},
		"no progress where nothing is fair": {
			withSearch(`search: "a" quick ltl=good => cycle`) + "bool y;\nactive proctype q() { do :: y = !y od }\nltl good { []<> (x == 9) }\n", cycle},
		"progress where all take turns": {
			withSearch(`search: "a" quick ltl=good fair => holds`) + "bool y;\nactive proctype q() { do :: y = !y od }\nltl good { []<> (x == 9) }\n", holds},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := searchOf(t, c.text)
			if err != nil || f.result != c.want {
				t.Fatalf("found %+v, %v, want %s", f, err, c.want)
			}
			if f.states == 0 {
				t.Error("the search has no states")
			}
		})
	}
}

func TestASearchThatIsNotAsExpectedFails(t *testing.T) {
	needSpin(t)
	// Five counting bytes have far more states than a search of one second can see.
	many := "byte v[6];\nactive [5] proctype q() { do :: v[_pid] = v[_pid] + 1 od }\nactive proctype r() { assert(v[1] + v[2] < 999) }\n"
	for name, c := range map[string]struct {
		text, want string
		incomplete bool
	}{
		"spin does not accept the model": {
			text: withSearch(`search: "a" quick => holds`) + "active proctype q() { y = 1 }\n",
			want: "spin does not accept m.pml: spin: m.pml:22, Error: undeclared variable: y"},
		"the preprocessor does not": {
			text: withSearch(`search: "a" quick => holds`) + "#error not for this\n",
			want: "spin does not accept m.pml: m.pml:22:2: error: #error not for this"},
		"the C compiler does not": {
			text: withSearch(`search: "a" quick => holds`) + "active proctype q() { c_code { foo(; } }\n",
			want: "the C compiler does not accept what spin made of m.pml: pan.m:"},
		"it takes too long": {
			text: withSearch(`search: "a" quick time=1 => holds`) + many,
			want: "it has not ended within 1s; raise its time=", incomplete: true},
		"it needs too much memory": {
			text: withSearch(`search: "a" quick memory=200 => holds`) + many,
			want: "it needs more than 200 MB of memory", incomplete: true},
		"it cannot even begin": {
			text: withSearch(`search: "a" quick memory=1 => holds`),
			want: "it needs more than 1 MB of memory", incomplete: true},
		"it is too deep": {
			text: withSearch(`search: "a" quick depth=20 => holds`),
			want: "a run has more than 20 steps; raise its depth=", incomplete: true},
		"it reaches nothing": {
			text: strings.Replace(withSearch(`search: "a" quick => holds`), ":: x < LIMIT -> x++", ":: x < LIMIT -> x = (x + 1) % 7", 1),
			want: "the search holds for nothing: it never reaches m.pml:15, x = 0;"},
		"it has nothing to reach": {
			text: strings.Replace(withSearch(`search: "a" quick => holds`), "x = 0; /* reached */", "x = 0;\n#ifdef BUG_FAR\nskip; /* reached */\n#endif", 1),
			want: "the search has no line that m.pml marks /* reached */"},
		"it finds an error": {
			text: withSearch(`search: "a" quick -DBUG_FAR => holds`),
			want: "found: violated (x>0), expected: holds"},
		"it finds none": {
			text: withSearch(`search: "a" quick => violated`),
			want: "found: holds, expected: violated"},
		"it finds another": {
			text: withSearch(`search: "a" quick -DBUG_FAR => violated y>0`),
			want: "another assertion is violated: (x>0), expected: y>0"},
		"it stops inside a step": {
			text: withSearch(`search: "a" quick => holds`) + "chan c = [1] of { byte };\nactive proctype q() { d_step { c!1; c!2 } }\n",
			want: `the model is wrong: pan says "block in d_step seq`},
		"pan does not accept the search": {
			text: withSearch(`search: "a" quick ltl=good => holds`) + "active proctype q() { do :: skip od }\nltl good { [] (x < 99) }\n",
			want: "pan ended with exit status 1: error: proctype 'q' line 22, state 2: has unconditional self-loop", incomplete: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f, err := searchOf(t, c.text)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("found %+v, %v, want %s", f, err, c.want)
			}
			if errors.Is(err, errIncomplete) != c.incomplete {
				t.Errorf("%v: incomplete is %v, want %v", err, !c.incomplete, c.incomplete)
			}
		})
	}
}

func TestWithoutItsToolsTheProgramSaysHowToGetThem(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	err := run(t.Context(), nil, io.Discard, io.Discard)
	if want := "the model checker spin is missing: run sh ensemble/install.sh --spin"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestTheQuickSearchesAreAsTheModelsSay(t *testing.T) {
	needSpin(t)
	var out, progress strings.Builder
	if err := run(t.Context(), []string{"-quick"}, &out, &progress); err != nil {
		t.Errorf("%v\n%s", err, &out)
	}
}
