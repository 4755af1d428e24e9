package main

import (
	"math"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestMedianOfFigures(t *testing.T) {
	for name, c := range map[string]struct {
		figures []float64
		want    float64
	}{
		"one figure is its own median":              {[]float64{7}, 7},
		"the middle one of an odd number":           {[]float64{9, 1, 5}, 5},
		"the mean of the middle two of an even one": {[]float64{10, 1, 2, 4}, 3},
	} {
		given := slices.Clone(c.figures)
		if got := median(c.figures); got != c.want {
			t.Errorf("%s: %v of %v, want %v", name, got, given, c.want)
		}
		if !slices.Equal(given, c.figures) {
			t.Errorf("%s: the order of repetitions is lost", name)
		}
	}
	if got := median(nil); !math.IsNaN(got) {
		t.Errorf("the median of nothing is %v", got)
	}
}

func TestRatiosAreTakenWithinARepetition(t *testing.T) {
	// Everything was ten times as slow in the last repetition, for both.
	if got := ratios([]float64{1, 2, 30}, []float64{2, 4, 60}); !slices.Equal(got, []float64{0.5, 0.5, 0.5}) {
		t.Error(got)
	}
	if got := ratios([]float64{1, 2, 3}, []float64{4}); !slices.Equal(got, []float64{0.25}) {
		t.Error("a peer with one repetition:", got)
	}
	if got := ratios([]float64{1}, nil); got != nil {
		t.Error("a peer with none:", got)
	}
}

func example() *measure {
	return &measure{
		Case: "shape", Title: "a shape of work", Unit: duration, Peers: []string{ours, floor, zkLock, curator},
		Samples: map[string][]float64{
			ours:   {2e6, 3e6, 4e6},
			floor:  {1e6, 2e6, 3e6},
			zkLock: {8e6},
		},
		Per:    map[string]perCycle{ours: {Nanoseconds: 3e3, Requests: 2, Bytes: 12345, Mallocs: 101.4}},
		Bounds: []bound{{floor, 1.2}, {zkLock, 0.25}, {curator, 1}},
		Notes:  map[string]string{curator: "not measured: no javac"},
	}
}

func TestVerdictsOnTargets(t *testing.T) {
	m := example()
	// The ratios to the floor are 2, 1.5 and 1.33.
	for b, want := range map[bound]verdict{
		{floor, 1.5}:   met,
		{floor, 1.49}:  missed,
		{zkLock, 0.25}: met,
		{zkLock, 0.2}:  missed,
		{curator, 100}: unknown,
		{"", 3e6}:      met,
		{"", 2e6}:      missed,
	} {
		if got := m.judge(b); got != want {
			t.Errorf("%+v: %s, want %s", b, got, want)
		}
	}
}

func TestTheTable(t *testing.T) {
	var out strings.Builder
	table := newTable(&out, []string{"a shape of work", "a longer shape of work"}, []string{ours, floor, zkLock, curator})
	if lines := strings.Count(out.String(), "\n"); lines != 2 {
		t.Errorf("%d lines before the first case", lines)
	}
	table.add(example())
	if table.err != nil {
		t.Fatal(table.err)
	}
	lines := strings.Split(strings.TrimSpace(out.String()), "\n")
	if len(lines) != 5 {
		t.Fatalf("%d lines, want a head, a rule and three peers:\n%s", len(lines), out.String())
	}
	for _, line := range lines {
		if utf8.RuneCountInString(line) != utf8.RuneCountInString(lines[0]) {
			t.Errorf("a row is not as wide as the head:\n%s", out.String())
		}
	}
	for i, want := range map[int][]string{
		0: {"case", "peer", "median", "least – most", "ours ÷ peer", "target", "a cycle: time", "requests", "bytes", "allocations"},
		2: {"a shape of work", "recipes", "3.00 ms", "2.00 ms – 4.00 ms", "", "", "3 µs", "2", "12.3 kB", "101"},
		3: {"", "floor", "2.00 ms", "1.00 ms – 3.00 ms", "1.50", "≤ 1.20 MISSED", "", "", "", ""},
		4: {"", "zk.Lock", "8.00 ms", "1 run", "0.25", "≤ 0.25 met", "", "", "", ""},
	} {
		var cells []string
		for cell := range strings.SplitSeq(strings.Trim(lines[i], "|"), "|") {
			cells = append(cells, strings.TrimSpace(cell))
		}
		if !slices.Equal(cells, want) {
			t.Errorf("line %d: %q\nwant    %q", i, cells, want)
		}
	}
	if text := strings.Join(summary([]*measure{example()}), "\n"); text != `Targets: 1 met, 1 missed, 1 without a figure.
  missed: a shape of work: recipes ÷ floor
  Curator: not measured: no javac (shape)` {
		t.Errorf("summary:\n%s", text)
	}
}

func TestFiguresAreShownWithTheirUnits(t *testing.T) {
	for want, got := range map[string]string{
		"999 ms":   duration.show(999e6),
		"1.50 ms":  duration.show(1.5e6),
		"950 µs":   duration.show(950e3),
		"4096 B":   size.show(4096),
		"56.0 kB":  size.show(56e3),
		"2":        count.show(2),
		"2.05":     count.show(2.05),
		"1001":     count.show(1000.6),
		"0.018":    ratio(0.0181),
		"1.10":     ratio(1.1),
		"":         ratio(math.NaN()),
		"≤ 8192 B": "≤ " + size.show(8192),
	} {
		if got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestCasesAreWellFormed(t *testing.T) {
	known := map[string]bool{}
	for _, p := range aboutPeers {
		known[p.name] = true
	}
	names := caseNames()
	for i, c := range timedCases {
		if slices.Index(names, c.name) != i {
			t.Errorf("%s is there twice", c.name)
		}
		if c.work.cycles%max(1, c.slices) != 0 {
			t.Errorf("%s: %d cycles do not make %d slices", c.name, c.work.cycles, c.slices)
		}
		for _, p := range c.peers {
			if !known[p] {
				t.Errorf("%s: peer %q is not explained", c.name, p)
			}
		}
		for _, b := range c.bounds {
			if !slices.Contains(c.peers[1:], b.Against) {
				t.Errorf("%s: a target against %q, which is no peer", c.name, b.Against)
			}
		}
	}
}

func TestTheCommandLine(t *testing.T) {
	o, err := parse([]string{"-case", "serial,waiting", "-quick", "-json", "f"}, &strings.Builder{})
	if err != nil || o.reps != 1 || !slices.Equal(o.cases, []string{"serial", "waiting"}) || o.json != "f" {
		t.Errorf("%+v, %v", o, err)
	}
	for _, bad := range [][]string{{"-case", "nothing"}, {"-reps", "0"}, {"word"}} {
		if _, err := parse(bad, &strings.Builder{}); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
