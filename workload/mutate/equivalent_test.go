package mutate

import (
	"slices"
	"strings"
	"testing"
)

func TestEquivalentMutantsExist(t *testing.T) {
	reasons, err := Equivalent()
	if err != nil {
		t.Fatal(err)
	}
	p, err := recipes()
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range missing(p, reasons) {
		t.Errorf("there is no mutant %s: the code has changed; look whether it still has an equivalent mutant", key)
	}
	if got := missing(p, Reasons{"recipes.none drop: x() → ": "why", "recipes.none drop: *": "why"}); len(got) != 2 {
		t.Errorf("a key that does not exist is not missed: %q", got)
	}
}

// missing returns the keys that no mutant has.
func missing(p *Program, reasons Reasons) (keys []string) {
	for key := range reasons {
		if !slices.ContainsFunc(p.Mutants, func(m Mutant) bool { return covers(key, m.Key()) }) {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestTheFileOfEquivalentMutants(t *testing.T) {
	got, err := readEquivalent("# a comment\np.f drop: a() → \n  because\n  of this\n\np.f drop: b() → \np.f constant: *\n  too\n")
	if err != nil || len(got) != 3 || got["p.f drop: a() → "] != "because of this" {
		t.Errorf("%q, %v", got, err)
	}
	for _, c := range []struct {
		op           Operator
		before, want string
	}{
		{Drop, "a()", "because of this"}, {Drop, "b()", "too"}, {Drop, "c()", ""}, {Constant, "1", "too"},
	} {
		if why := got.Of(Mutant{Package: "p", Func: "f", Operator: c.op, Before: c.before}); why != c.want {
			t.Errorf("%s: %q", c.before, why)
		}
	}
	for text, want := range map[string]string{
		"a\n\nb\n  why\n":      "a has no reason",
		"a\n":                  "a has no reason",
		"  why\n":              "of no mutant",
		"a\n  why\na\n  why\n": "a is there twice",
		"a\na\n  why\n":        "a is there twice",
	} {
		if _, err := readEquivalent(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
