package spec

import (
	"slices"
	"strings"
	"testing"
)

// Contender 0 hands the lock on to contender 1 of its session, which hands it on to one that gives it up;
// then contender 2, of another session, has its turn.
var handedOn = []Step{
	{Kind: Session, Process: -1, Session: "a", Clients: []int{0, 1, 3}},
	{Kind: Session, Process: -1, Session: "b", Clients: []int{2}},
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{10}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Acquire, Lock: "l", Process: 2, Session: "b", Nodes: []int64{11}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 11},
	{Kind: Acquire, Lock: "l", Process: 1, Session: "a", Granted: true},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 10},
	{Kind: Write, Lock: "l", Process: -1, Session: "a", Node: 10}, // 8
	{Kind: Release, Lock: "l", Process: 0, Session: "a"},
	{Kind: Grant, Lock: "l", Process: 1, Session: "a", Node: 10, Sub: 1}, // 10
	{Kind: Released, Lock: "l", Process: 0, Session: "a"},
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{12}, Granted: true}, // 12
	{Kind: Acquire, Lock: "l", Process: 3, Session: "a"},
	{Kind: Release, Lock: "l", Process: 1, Session: "a"}, // 14
	{Kind: Released, Lock: "l", Process: 1, Session: "a"},
	{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10}, // 16
	{Kind: Grant, Lock: "l", Process: 2, Session: "b", Node: 11},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 12},
	{Kind: Release, Lock: "l", Process: 2, Session: "b"},
	{Kind: Delete, Lock: "l", Process: -1, Session: "b", Node: 11},
	{Kind: Released, Lock: "l", Process: 2, Session: "b"},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 12},
	{Kind: Loss, Lock: "l", Process: 0, Session: "a"},
	{Kind: End, Process: -1, Session: "a"},
}

func TestHandOffsAreHeldToTheModel(t *testing.T) {
	v := validator(t)
	all := handedOn
	changed := func(i int, f func(*Step)) []Step {
		out := slices.Clone(all)
		f(&out[i])
		return out
	}
	removed := Step{Kind: Delete, Lock: "l", Process: -1, Session: "z", Node: 10}
	left := changed(9, func(s *Step) { s.Kind, s.Left = Loss, true })
	for name, c := range map[string]struct {
		steps []Step
		want  string // the step that differs; "": none
	}{
		"as it was": {all, ""},
		"others delete the node, and none has heard":  {slices.Concat(all[:4], all[6:10], []Step{removed}, all[10:12]), ""},
		"a process that crashes, and writes":          {swapped(left, 8, 9), ""},
		"a grant before the release":                  {swapped(all, 9, 10), "line 10, l at 9s: contender 1 is granted"},
		"a grant after the loss":                      {changed(9, func(s *Step) { s.Kind = Loss }), "line 11, l at 10s: contender 1 is granted"},
		"a grant after the end of the session":        {slices.Concat(all[:4], all[6:10], all[24:], all[10:12]), "line 10, l at 9s: contender 1 is granted"},
		"a grant by a node that is not first":         {slices.Concat(all[:2], all[4:6], all[2:4], all[6:12]), "line 8, l at 7s: contender 0 is granted"},
		"a token again":                               {changed(10, func(s *Step) { s.Sub = 0 }), "contender 1 is granted"},
		"a token again, of the third":                 {slices.Insert(slices.Clone(all), 15, Step{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 10, Sub: 1}), "line 16, l at 15s: contender 0 is granted"},
		"one of another session":                      {changed(10, func(s *Step) { s.Process, s.Session = 2, "b" }), "line 11, l at 10s: contender 2 is granted"},
		"a release that ends while the node is there": {slices.Delete(slices.Clone(all), 12, 14), "line 14, l at 13s: contender 1 is told that the lock is released"},
	} {
		r := validate(t, v, slices.Clone(c.steps))
		if got := strings.Join(r.Differs, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || r.Beyond > 0 {
			t.Errorf("%s: %+v, want the difference %q", name, r, c.want)
		}
	}
}
