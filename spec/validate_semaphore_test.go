package spec

import (
	"slices"
	"strings"
	"testing"
)

// A semaphore of three permits: contender 0 takes one, then contenders 1 and 3, of one session, take one each
// together; contender 2 has to wait until the size is raised.
var permitsTaken = []Step{
	{Kind: Resize, Lock: "l", Process: -1, Permits: 3},
	{Kind: Session, Process: -1, Session: "a", Clients: []int{0}},
	{Kind: Session, Process: -1, Session: "b", Clients: []int{1, 3}},
	{Kind: Session, Process: -1, Session: "c", Clients: []int{2}},
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{10}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Acquire, Lock: "l", Process: 1, Session: "b", Nodes: []int64{11}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 11},
	{Kind: Acquire, Lock: "l", Process: 3, Session: "b", Nodes: []int64{12}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 12},
	{Kind: Acquire, Lock: "l", Process: 2, Session: "c", Nodes: []int64{13}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "c", Node: 13}, // 11
	{Kind: Take, Lock: "l", Process: -1, Session: "a", Nodes: []int64{10}, Permits: 1},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 10},
	{Kind: Take, Lock: "l", Process: -1, Session: "b", Nodes: []int64{11, 12}, Permits: 3}, // 14
	{Kind: Grant, Lock: "l", Process: 3, Session: "b", Node: 12},                           // 15
	{Kind: Grant, Lock: "l", Process: 1, Session: "b", Node: 11},
	{Kind: Resize, Lock: "l", Process: -1, Permits: 5},                                 // 17
	{Kind: Take, Lock: "l", Process: -1, Session: "c", Nodes: []int64{13}, Permits: 4}, // 18
	{Kind: Write, Lock: "l", Process: -1, Session: "b", Node: 12},
	{Kind: Write, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Grant, Lock: "l", Process: 2, Session: "c", Node: 13}, // 21
	{Kind: Release, Lock: "l", Process: 2, Session: "c"},
	{Kind: Delete, Lock: "l", Process: -1, Session: "c", Node: 13}, // 23
	{Kind: Delete, Lock: "l", Process: -1, Session: "c", Node: 13},
	{Kind: Released, Lock: "l", Process: 2, Session: "c"}, // 25
	{Kind: Loss, Lock: "l", Process: 1, Session: "b"},
	{Kind: Loss, Lock: "l", Process: 3, Session: "b"},
	{Kind: End, Process: -1, Session: "b"},
	{Kind: Loss, Lock: "l", Process: 0, Session: "a"},
	{Kind: End, Process: -1, Session: "a"},
	{Kind: Over, Process: -1},
}

func TestSemaphoresAreHeldToTheModel(t *testing.T) {
	v := validator(t)
	all := permitsTaken
	changed := func(i int, f func(*Step)) []Step {
		out := slices.Clone(all)
		f(&out[i])
		return out
	}
	gaveUp := changed(6, func(s *Step) { s.Granted = false })
	gaveUp[14].Nodes, gaveUp[14].Permits = []int64{12}, 2
	gaveUp[16] = Step{Kind: Delete, Lock: "l", Process: -1, Session: "b", Node: 11}
	alone := slices.Concat(all[:1], all[3:4], all[10:12], all[18:19], all[21:26])
	alone[4].Permits = 2
	full := slices.Concat(all[:2], all[3:6], all[10:14], all[18:19])
	lowered := slices.Insert(slices.Clone(full), 9, Step{Kind: Resize, Lock: "l", Process: -1, Permits: 1})
	lowered[10].Permits = 2
	lost := Step{Kind: Loss, Lock: "l", Process: 2, Session: "c"}
	end := Step{Kind: End, Process: -1, Session: "c"}
	both := slices.Concat(all[:1], all[2:3], all[6:10], all[14:15], all[16:17], all[26:27], all[28:29])
	both[4].Granted = false
	left := changed(4, func(s *Step) { s.Nodes = []int64{10, 14} })
	left = append(left[:12:12], Step{Kind: Create, Lock: "l", Process: -1, Session: "d", Node: 14}, all[12], all[30])
	for name, c := range map[string]struct {
		steps []Step
		want  string // the step that differs; "": none
	}{
		"as it was": {all, ""},
		"one of the two gives up while both are given permits":    {both, ""},
		"one behind it takes permits when the first has given up": {without(gaveUp, 26), ""},
		"a client that has left its session takes permits":        {left, ""},
		"others delete a permit before the grant":                 {append(all[:15:15], Step{Kind: Delete, Lock: "l", Process: -1, Session: "z", Node: 12}, all[15], all[16]), ""},
		"more permits than the size":                              {full, "line 10, l at 9s: contender 2 takes permits in place of node 0xd, after which 4 are out"},
		"more permits than a size that was lowered":               {lowered, "line 11, l at 10s: contender 2 takes permits in place of node 0xd"},
		"one behind takes permits first":                          {swapped(all, 12, 14)[:13], "line 13, l at 12s: contender 1 takes permits in place of node 0xb and node 0xc"},
		"one of a session passes the other":                       {changed(14, func(s *Step) { s.Nodes = s.Nodes[1:] }), "line 15, l at 14s: contender 3 takes permits in place of node 0xc"},
		"one of another session is given permits, too":            {changed(14, func(s *Step) { s.Nodes = []int64{11, 12, 13} }), "line 15, l at 14s: contender 1 takes permits"},
		"permits in place of a node that is gone":                 {slices.Insert(slices.Clone(all), 14, Step{Kind: Delete, Lock: "l", Process: -1, Session: "z", Node: 12}), "line 16, l at 15s: contender 1 takes permits"},
		"permits for one that has some":                           {append(alone[:5:5], alone[4]), "line 6, l at 5s: contender 2 takes permits"},
		"a grant before the permits are taken":                    {swapped(all, 14, 15), "line 15, l at 14s: contender 3 is granted"},
		"a permit that goes before the lease ends":                {swapped(alone, 6, 7), "line 7, l at 6s: contender 2 deletes node 0xd"},
		"a release that is answered before the permits are gone":  {slices.Concat(alone[:7], alone[9:], alone[7:9]), "line 8, l at 7s: contender 2 is told that the lock is released"},
		"a session that ends before a lease":                      {append(alone[:6:6], end, lost), "line 7, l at 6s: session c of contender 2 ends"},
		"a permit that is left":                                   {append(alone[:6:6], lost, all[31]), "line 8, l at 7s: all clients have left"},
	} {
		r := validate(t, v, slices.Clone(c.steps))
		if got := strings.Join(r.Differs, "\n"); (got == "") != (c.want == "") || !strings.Contains(got, c.want) || r.Beyond > 0 {
			t.Errorf("%s: %+v, want the difference %q", name, r, c.want)
		}
	}
}

// The second node may be of a client of which the record does not tell that it used the session.
func TestAPlaceOfAnAcquireThatIsNotKnownIsNotDecided(t *testing.T) {
	r := validate(t, validator(t), []Step{
		permitsTaken[0], permitsTaken[1],
		{Kind: Acquire, Lock: "l", Process: 0, Session: "a"},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 11},
	})
	if len(r.Differs) > 0 || r.Beyond == 0 {
		t.Errorf("%+v, want steps that are not decided", r)
	}
}
