package words

import (
	"slices"
	"testing"
)

func TestCountsAgreeWithTheirNouns(t *testing.T) {
	for _, c := range []struct {
		n           int
		thing, want string
	}{
		{0, "run", "0 runs"}, {1, "run", "1 run"}, {2, "run", "2 runs"}, {1, "process", "1 process"}, {12, "process", "12 processes"},
		{2, "watch", "2 watches"}, {2, "witness", "2 witnesses"}, {2, "try", "2 tries"}, {2, "member of a double barrier", "2 members of a double barrier"},
		{3, "worker process", "3 worker processes"},
	} {
		if got := Count(c.n, c.thing); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
	if Count(int64(1), "MB") != "1 MB" || Times(1) != "once" || Times(2) != "2 times" {
		t.Error("of one there is another form")
	}
}

func TestTheNearestNameIsTheOneThatWasMeant(t *testing.T) {
	known := []string{"recipes", "zk-lock", "naive", "plain", "mutant-inner-release", "mutant-inner-revoke", "mutual exclusion", "down"}
	for name, want := range map[string]string{
		"recipe": "recipes", "recipies": "recipes", "zklock": "zk-lock", "niave": "naive", "dwon": "down", "Down": "down", "ZK-Lock": "zk-lock",
		"mutant-inner-relaese": "mutant-inner-release", "mutal exclusion": "mutual exclusion", "mutual": "mutual exclusion", "mutant-inner-r": "mutant-inner-release",
		"foo": "", "": "", "x": "", "pl": "", "zookeeper": "", "exclusion": "",
	} {
		if got := Nearest(name, known); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func TestAnUnknownNameIsRefusedWithTheOneThatWasMeant(t *testing.T) {
	known := []string{"down", "slow"}
	if got := Unknown("fault", "dwon", known, Known(known)).Error(); got != `unknown fault "dwon": did you mean "down"? known: down, slow` {
		t.Error(got)
	}
	if got := Unknown("fault", "foo", known, Known(known)).Error(); got != `unknown fault "foo"; known: down, slow` {
		t.Error(got)
	}
}

func TestDistanceCountsEdits(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"", "abc", 3}, {"abc", "", 3}, {"abc", "abc", 0}, {"abc", "acb", 1}, {"abc", "axc", 1}, {"abc", "abxc", 1}, {"abcd", "badc", 2}, {"kitten", "sitting", 3}} {
		if got := distance([]rune(c.a), []rune(c.b)); got != c.want {
			t.Errorf("%q and %q: %d, want %d", c.a, c.b, got, c.want)
		}
	}
}

func TestTextIsBrokenAtBlanks(t *testing.T) {
	for _, c := range []struct {
		text  string
		width int
		want  []string
	}{
		{"one two three", 0, []string{"one two three"}},
		{"one two three", 13, []string{"one two three"}},
		{"one two three", 12, []string{"one two", "three"}},
		{"one two three", 3, []string{"one", "two", "three"}},
		{"ä ö ü", 3, []string{"ä ö", "ü"}},
		{"", 5, []string{""}},
	} {
		if got := Wrap(c.text, c.width); !slices.Equal(got, c.want) {
			t.Errorf("%q at %d: %q, want %q", c.text, c.width, got, c.want)
		}
	}
}

func TestAListThatIsCutTellsHowMuch(t *testing.T) {
	items := []string{"a", "b", "c"}
	for want, got := range map[string]string{
		"a, b, c":              Some(items, 3, 3),
		"a, b, and 1 more":     Some(items, 2, 3),
		"a, b, c, and 38 more": Some(items, 5, 41),
		"":                     Some(nil, 5, 0),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
