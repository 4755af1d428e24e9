package spec

import (
	"slices"
	"strings"
	"testing"
)

// Two readers share the lock, then a writer gets it and becomes a reader, ahead of a writer that waits.
var readersAndWriters = []Step{
	{Kind: Session, Process: -1, Session: "a", Clients: []int{0}},
	{Kind: Session, Process: -1, Session: "b", Clients: []int{1}},
	{Kind: Session, Process: -1, Session: "c", Clients: []int{2}},
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{10}, Granted: true, Read: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10, Read: true},
	{Kind: Acquire, Lock: "l", Process: 1, Session: "b", Nodes: []int64{11}, Granted: true, Read: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 11, Read: true},
	{Kind: Grant, Lock: "l", Process: 1, Session: "b", Node: 11, Read: true},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 10, Read: true}, // 8
	{Kind: Acquire, Lock: "l", Process: 2, Session: "c", Nodes: []int64{12}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "c", Node: 12},
	{Kind: Release, Lock: "l", Process: 0, Session: "a", Read: true}, // 11
	{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Loss, Lock: "l", Process: 1, Session: "b", Read: true},
	{Kind: End, Process: -1, Session: "b"},
	{Kind: Grant, Lock: "l", Process: 2, Session: "c", Node: 12}, // 15
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{13}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 13},
	{Kind: Acquire, Lock: "l", Process: 2, Session: "c", Nodes: []int64{14}, Granted: true, Read: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "c", Node: 14, Read: true, Writer: 12}, // 19
	{Kind: Grant, Lock: "l", Process: 2, Session: "c", Node: 14, Read: true},
	{Kind: Release, Lock: "l", Process: 2, Session: "c"},
	{Kind: Delete, Lock: "l", Process: -1, Session: "c", Node: 12}, // 22
	{Kind: Loss, Lock: "l", Process: 2, Session: "c", Read: true},
	{Kind: Delete, Lock: "l", Process: -1, Session: "z", Node: 14},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 13}, // 25
	{Kind: Loss, Lock: "l", Process: 0, Session: "a"},
	{Kind: End, Process: -1, Session: "a"},
}

func TestReadersAndWritersAreHeldToTheModel(t *testing.T) {
	v := validator(t)
	all := readersAndWriters
	writer := slices.Concat(all[2:3], all[9:11], all[15:16])
	both := slices.Concat(writer, all[18:21])
	changed := func(i int, f func(*Step)) []Step {
		out := slices.Clone(all)
		f(&out[i])
		return out
	}
	for name, c := range map[string]struct {
		steps []Step
		want  string // the step that differs; "": none
	}{
		"as it was":                               {all, ""},
		"the writer loses what it has in both":    {append(slices.Clone(all[:20:20]), Step{Kind: Loss, Lock: "l", Process: 2, Session: "c"}, Step{Kind: End, Process: -1, Session: "c"}), ""},
		"a session that ends before the reader":   {append(both[:7:7], Step{Kind: Loss, Lock: "l", Process: 2, Session: "c"}, Step{Kind: End, Process: -1, Session: "c"}), "line 9, l at 8s: session c of contender 2 ends"},
		"a writer beside a reader":                {slices.Concat(all[1:3], all[5:8], all[9:11], all[15:16]), "line 8, l at 7s: contender 2 is granted"},
		"a reader passes a writer":                {slices.Concat(all[:3], all[16:18], all[5:8]), "line 8, l at 7s: contender 1 is granted"},
		"a writer passes the reader of a writer":  {slices.Insert(slices.Clone(all), 23, all[25]), "line 24, l at 23s: contender 0 is granted"},
		"a reader of a writer that has gone":      {slices.Concat(all[:1], writer, all[16:18], all[21:23], all[18:20]), "line 11, l at 10s: contender 2 becomes a reader"},
		"a reader has the token of its writer":    {append(both[:6:6], Step{Kind: Grant, Lock: "l", Process: 2, Session: "c", Node: 12, Read: true}), "line 7, l at 6s: contender 2 is granted"},
		"a reader that has the node of a writer":  {changed(6, func(s *Step) { s.Read = false }), "line 7, l at 6s: contender 1 creates node 0xb"},
		"a writer that has the node of a reader":  {changed(10, func(s *Step) { s.Read = true }), "line 11, l at 10s: contender 2 creates a reader's node 0xc"},
		"one of two readers is told to be writer": {changed(5, func(s *Step) { s.Read = false }), "line 7, l at 6s: contender 1 creates a reader's node 0xb"},
	} {
		r := validate(t, v, slices.Clone(c.steps))
		if got := strings.Join(r.Differs, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || r.Beyond > 0 {
			t.Errorf("%s: %+v, want the difference %q", name, r, c.want)
		}
	}
}
