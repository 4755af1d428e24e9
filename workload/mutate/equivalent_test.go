package mutate

import (
	"strings"
	"testing"
)

func TestEquivalentMutantsExist(t *testing.T) {
	reasons, err := Equivalent()
	if err != nil {
		t.Fatal(err)
	}
	p, err := Load(t.Context(), ".")
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range missing(p, reasons) {
		t.Errorf("there is no mutant %s: the code has changed; look whether it still has an equivalent mutant", key)
	}
	if got := missing(p, map[string]string{"recipes.none drop: x() → ": "why"}); len(got) != 1 {
		t.Errorf("a key that does not exist is not missed: %q", got)
	}
}

// missing returns the keys that no mutant has.
func missing(p *Program, reasons map[string]string) (keys []string) {
	has := map[string]bool{}
	for _, m := range p.Mutants {
		has[m.Key()] = true
	}
	for key := range reasons {
		if !has[key] {
			keys = append(keys, key)
		}
	}
	return keys
}

func TestTheFileOfEquivalentMutants(t *testing.T) {
	got, err := readEquivalent("# a comment\nf drop: a() → \n  because\n  of this\n\nf drop: b() → \n  too\n")
	if err != nil || len(got) != 2 || got["f drop: a() → "] != "because of this" {
		t.Errorf("%q, %v", got, err)
	}
	for text, want := range map[string]string{
		"a\nb\n  why\n":        "a has no reason",
		"a\n":                  "a has no reason",
		"  why\n":              "of no mutant",
		"a\n  why\na\n  why\n": "a is there twice",
	} {
		if _, err := readEquivalent(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v", text, err)
		}
	}
}
