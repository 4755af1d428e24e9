package spec

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// good is a record: contender 1 gets the lock after contender 0, which crashes later, and an
// acquire of contender 1 fails.
var good = []Step{
	{Kind: Session, Process: -1, Session: "a", Clients: []int{0}},
	{Kind: Session, Process: -1, Session: "b", Clients: []int{1}},
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{10}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 10},
	{Kind: Acquire, Lock: "l", Process: 1, Session: "b", Nodes: []int64{11}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 11},
	{Kind: Write, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Release, Lock: "l", Process: 0, Session: "a"},
	{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
	{Kind: Released, Lock: "l", Process: 0, Session: "a"},
	{Kind: Grant, Lock: "l", Process: 1, Session: "b", Node: 11},
	{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{12}, Granted: true},
	{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 12},
	{Kind: Delete, Lock: "l", Process: -1, Session: "z", Node: 11},
	{Kind: Loss, Lock: "l", Process: 1, Session: "b"},
	{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 12},
	{Kind: Acquire, Lock: "l", Process: 1, Session: "b"},
	{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 13},
	{Kind: Delete, Lock: "l", Process: -1, Session: "b", Node: 13},
	{Kind: Loss, Lock: "l", Process: 0, Session: "a"},
	{Kind: End, Process: -1, Session: "a"},
}

func without(steps []Step, i int) []Step {
	out := append([]Step(nil), steps[:i]...)
	return append(out, steps[i+1:]...)
}

func swapped(steps []Step, i, j int) []Step {
	out := append([]Step(nil), steps...)
	out[i], out[j] = out[j], out[i]
	return out
}

func validator(t *testing.T) *Validator {
	t.Helper()
	v, err := NewValidator()
	if err != nil {
		t.Skip(err)
	}
	v.times = 10
	return v
}

func validate(t *testing.T, v *Validator, steps []Step) Validated {
	t.Helper()
	file := filepath.Join(t.TempDir(), RecordFile)
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	for i := range steps {
		steps[i].Time = time.Duration(i) * time.Second
	}
	if err := errors.Join(WriteRecord(f, steps), f.Close()); err != nil {
		t.Fatal(err)
	}
	r, err := v.Validate(t.Context(), file)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestTheModelDoesWhatARunDid(t *testing.T) {
	r := validate(t, validator(t), good)
	if len(r.Differs) > 0 || r.Windows != 1 || r.Steps != 20 || r.Beyond != 0 {
		t.Errorf("%+v, want one window of 20 steps that the model can do", r)
	}
}

// The node of which the record does not tell is of the acquire that had been given up.
func TestAnAcquireBeginsBeforeTheOneThatWasGivenUpHasItsNode(t *testing.T) {
	r := validate(t, validator(t), []Step{
		{Kind: Session, Process: -1, Session: "a", Clients: []int{0}},
		{Kind: Acquire, Lock: "l", Process: 0, Session: "a"},
		{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{11}},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 11},
		{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 11},
	})
	if len(r.Differs) > 0 || r.Steps == 0 {
		t.Errorf("%+v", r)
	}
}

// The node of which the record does not tell is of the contender that has none in the session: its
// acquire went on in the next one.
func TestAnAcquireThatGoesOnInTheNextSessionMayLeaveANodeInThisOne(t *testing.T) {
	r := validate(t, validator(t), []Step{
		{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{20}, Granted: true},
		{Kind: Acquire, Lock: "l", Process: 1, Session: "a", Nodes: []int64{11}, Granted: true},
		{Kind: Session, Process: -1, Session: "a", Clients: []int{0, 1}},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 11},
		{Kind: Grant, Lock: "l", Process: 1, Session: "a", Node: 11},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 12},
		{Kind: Release, Lock: "l", Process: 1, Session: "a"},
		{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 11},
		{Kind: Released, Lock: "l", Process: 1, Session: "a"},
		{Kind: End, Process: -1, Session: "a"},
	})
	if len(r.Differs) > 0 || r.Steps == 0 {
		t.Errorf("%+v", r)
	}
}

// An acquire of several locks gives up its node in each when it loses one, and has others created. Of
// one lock it must not.
func TestAnAcquireOfSeveralLocksHasNodesCreatedAnew(t *testing.T) {
	steps := []Step{
		{Kind: Session, Process: -1, Session: "a", Clients: []int{0}},
		{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{10, 11}, Granted: true, Together: true},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 11},
		{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 11},
		{Kind: Loss, Lock: "l", Process: 0, Session: "a"},
		{Kind: End, Process: -1, Session: "a"},
	}
	steps = slices.Insert(steps, 3, // so that one window has both
		Step{Kind: Session, Process: -1, Session: "b", Clients: []int{1}},
		Step{Kind: Acquire, Lock: "l", Process: 1, Session: "b", Nodes: []int64{12}},
		Step{Kind: Create, Lock: "l", Process: -1, Session: "b", Node: 12})
	steps = slices.Insert(steps, len(steps)-3, Step{Kind: Delete, Lock: "l", Process: -1, Session: "b", Node: 12})
	v := validator(t)
	if r := validate(t, v, steps); len(r.Differs) > 0 || r.Windows != 1 || r.Beyond > 0 {
		t.Errorf("of several locks: %+v", r)
	}
	steps[1].Together = false
	if r := validate(t, v, steps); len(r.Differs) != 1 || r.Beyond > 0 {
		t.Errorf("of one lock: %+v, want one difference", r)
	}
}

// A request whose connection has broken may be carried out later: the write of a contender must not
// come after the next contender of its session was granted the lock.
func TestAWriteDoesNotComeAfterTheNextGrant(t *testing.T) {
	steps := []Step{
		{Kind: Session, Process: -1, Session: "a", Clients: []int{0, 1}},
		{Kind: Acquire, Lock: "l", Process: 0, Session: "a", Nodes: []int64{10}, Granted: true},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Grant, Lock: "l", Process: 0, Session: "a", Node: 10},
		{Kind: Acquire, Lock: "l", Process: 1, Session: "a", Nodes: []int64{11}, Granted: true},
		{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 11},
		{Kind: Release, Lock: "l", Process: 0, Session: "a"},
		{Kind: Write, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Grant, Lock: "l", Process: 1, Session: "a", Node: 11},
		{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Released, Lock: "l", Process: 0, Session: "a"},
		{Kind: Loss, Lock: "l", Process: 1, Session: "a"},
		{Kind: End, Process: -1, Session: "a"},
	}
	v := validator(t)
	if r := validate(t, v, steps); len(r.Differs) > 0 || r.Beyond > 0 {
		t.Errorf("a write before the next grant: %+v", r)
	}
	if r := validate(t, v, swapped(steps, 7, 8)); len(r.Differs) != 1 || r.Beyond > 0 {
		t.Errorf("a write after the next grant: %+v, want one difference", r)
	}
}

// A waiter may be granted the lock before it is told that others have deleted its node, also if no
// other node is left then. A holder may be told too early that its session has ended: its node goes
// with the session, and not by a delete.
func TestWhatTheServersDidLateIsUnderstood(t *testing.T) {
	v := validator(t)
	late := append(slices.Clone(good[:7]), []Step{
		{Kind: Delete, Lock: "l", Process: -1, Session: "z", Node: 11},
		{Kind: Release, Lock: "l", Process: 0, Session: "a"},
		{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
		{Kind: Grant, Lock: "l", Process: 1, Session: "b", Node: 11},
		{Kind: Loss, Lock: "l", Process: 1, Session: "b"},
	}...)
	forced := slices.Clone(late)
	forced[7] = Step{Kind: End, Process: -1, Session: "b", Forced: true}
	told := append(slices.Clone(late[:1]), late[2:5]...)
	told = append(told, Step{Kind: Release, Lock: "l", Process: 0, Session: "a"}, Step{Kind: Released, Lock: "l", Process: 0, Session: "a"})
	for name, c := range map[string]struct {
		steps   []Step
		differs int
	}{
		"a grant by a node that others have deleted":  {late, 0},
		"a grant in a session that a fault has ended": {forced, 0},
		"an answer before the session ends":           {append(slices.Clone(told), Step{Kind: End, Process: -1, Session: "a"}), 0},
		"an answer before a fault ends the session, which deletes the node before": {slices.Concat(told, []Step{
			{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
			{Kind: End, Process: -1, Session: "a", Forced: true},
		}), 0},
		"the same in a session that its client ends, as by bug": {slices.Concat(told, []Step{
			{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
			{Kind: End, Process: -1, Session: "a"},
		}), 1},
		"the same for one of two contenders": {slices.Concat(told[:3], []Step{
			{Kind: Acquire, Lock: "l", Process: 1, Session: "a", Nodes: []int64{11}, Granted: true},
			{Kind: Create, Lock: "l", Process: -1, Session: "a", Node: 11},
		}, told[3:], []Step{
			{Kind: Loss, Lock: "l", Process: 1, Session: "a"},
			{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10},
			{Kind: End, Process: -1, Session: "a", Forced: true},
		}), 0},
		"an answer in a session that goes on": {slices.Concat(told, []Step{
			{Kind: Acquire, Lock: "k", Process: 0, Session: "a", Nodes: []int64{12}, Granted: true},
			{Kind: Create, Lock: "k", Process: -1, Session: "a", Node: 12},
			{Kind: Grant, Lock: "k", Process: 0, Session: "a", Node: 12},
			{Kind: Loss, Lock: "k", Process: 0, Session: "a"},
			{Kind: End, Process: -1, Session: "a"},
		}), 1},
		"an answer before the node is deleted, as by bug": {append(slices.Clone(told), Step{Kind: Delete, Lock: "l", Process: -1, Session: "a", Node: 10}), 1},
	} {
		if r := validate(t, v, c.steps); len(r.Differs) != c.differs {
			t.Errorf("%s: %+v", name, r)
		}
	}
}

func TestTheFirstStepThatTheModelCannotDoIsNamed(t *testing.T) {
	v := validator(t)
	for name, c := range map[string]struct {
		steps []Step
		want  []string
	}{
		"a grant out of turn": {swapped(good, 10, 11)[:11:11], nil},
		"a grant while a node ahead stands": {swapped(swapped(good, 9, 11), 10, 11), []string{
			"line 10, l at 9s: contender 1 is granted the lock by node 0xb, which the model cannot do here",
			"it could have done this: contender 0 deletes node 0xa",
		}},
		"a holder whose node is deleted first":               {swapped(good, 8, 9), []string{"line 9, l at 8s: contender 0 deletes node 0xa", "contender 0 releases the lock"}},
		"a release that is answered before the node is gone": {swapped(good, 9, 10), []string{"line 10, l at 9s: contender 0 is told that the lock is released"}},
		"a loss that is told after the session":              {swapped(good, 20, 21), []string{"line 21, l at 20s: session a of contender 0 ends", "contender 0 is told that it has lost the lock"}},
		"a node that is left":                                {append(without(good, 19), Step{Kind: Over, Process: -1}), []string{"line 22, l at 21s: all clients have left"}},
		"a second holder":                                    {without(good, 8), []string{"line 9, l at 8s: contender 0 deletes node 0xa"}},
	} {
		t.Run(name, func(t *testing.T) {
			r := validate(t, v, c.steps)
			if c.want == nil {
				if len(r.Differs) > 0 {
					t.Errorf("%v, want none: the record is cut before the step", r.Differs)
				}
				return
			}
			if len(r.Differs) != 1 {
				t.Fatalf("%+v, want one difference", r)
			}
			for _, want := range c.want {
				if !strings.Contains(r.Differs[0], want) {
					t.Errorf("%s\nwant: %s", r.Differs[0], want)
				}
			}
		})
	}
}

// Windows that one process decides do not change each other's outcome, wherever one differs.
func TestAWindowThatDiffersLeavesTheOthersDecided(t *testing.T) {
	v := validator(t)
	once := func(i int) []Step { // a session with one acquire
		session, process, node := fmt.Sprint("s", i), i, int64(i+1)
		return []Step{
			{Kind: Session, Process: -1, Session: session, Clients: []int{process}},
			{Kind: Acquire, Lock: "l", Process: process, Session: session, Nodes: []int64{node}, Granted: true},
			{Kind: Create, Lock: "l", Process: -1, Session: session, Node: node},
			{Kind: Grant, Lock: "l", Process: process, Session: session, Node: node},
			{Kind: Release, Lock: "l", Process: process, Session: session},
			{Kind: Delete, Lock: "l", Process: -1, Session: session, Node: node},
			{Kind: Released, Lock: "l", Process: process, Session: session},
		}
	}
	for _, wrong := range [][]int{{}, {0}, {3}, {4, 5}, {0, 9}} {
		var steps []Step
		for i := range 10 {
			of := once(i)
			if slices.Contains(wrong, i) {
				of = swapped(of, 4, 5) // the node is deleted before the release
			}
			steps = append(steps, of...)
		}
		if r := validate(t, v, steps); len(r.Differs) != len(wrong) || r.Windows != 10 || r.Beyond != 0 {
			t.Errorf("with differences in %v: %+v", wrong, r)
		}
	}
}

func TestWhatIsNoRecordEndsInASentence(t *testing.T) {
	v := &Validator{dir: t.TempDir()}
	for name, c := range map[string]struct{ text, want string }{
		"nothing":             {"", "it has no line"},
		"half a line":         {`{"step":"create","process":-1,"loc`, ":1: "},
		"no JSON":             {"{}\nhello\n", ":2: "},
		"time that goes back": {`{"at":2}` + "\n" + `{"at":1}` + "\n", ":2: "},
		"a long line":         {`{"lock":"` + strings.Repeat("a", 1<<20) + `"}`, ":1: "},
	} {
		file := filepath.Join(t.TempDir(), RecordFile)
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := v.Validate(t.Context(), file); !errors.Is(err, ErrRecord) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want ErrRecord with %q", name, err, c.want)
		}
	}
	if _, err := v.Validate(t.Context(), filepath.Join(t.TempDir(), RecordFile)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v, want that there is none", err)
	}
}

// Contenders of one client hand the lock over in its session, and go on in its next one. The model has
// that for one contender alone: another may come in the next session, but not leave the first one.
func TestContendersOfOneClientRenewTheirSession(t *testing.T) {
	v := validator(t)
	created := func(session string, node int64) []Step {
		return []Step{{Kind: Create, Lock: "l", Process: -1, Session: session, Node: node}}
	}
	asks := func(session string, process int, nodes ...int64) []Step {
		return append([]Step{{Kind: Acquire, Lock: "l", Process: process, Session: session, Nodes: nodes, Granted: true}}, created(session, nodes[0])...)
	}
	grant := func(session string, process int, node int64) Step {
		return Step{Kind: Grant, Lock: "l", Process: process, Session: session, Node: node}
	}
	leaves := func(session string, process int, node int64) []Step {
		return []Step{
			{Kind: Release, Lock: "l", Process: process, Session: session},
			{Kind: Delete, Lock: "l", Process: -1, Session: session, Node: node},
			{Kind: Released, Lock: "l", Process: process, Session: session},
		}
	}
	holds := func(session string, process int, node int64) []Step {
		return append([]Step{grant(session, process, node)}, leaves(session, process, node)...)
	}
	start := []Step{
		{Kind: Session, Process: -1, Session: "a", Clients: []int{0, 1}},
		{Kind: Session, Process: -1, Session: "b", Clients: []int{0, 1}},
		{Kind: Session, Process: -1, Session: "c", Clients: []int{2}},
	}
	end := []Step{{Kind: End, Process: -1, Session: "a"}}
	handOver := slices.Insert(leaves("a", 0, 10), 1, grant("a", 1, 11))
	queue := slices.Concat(start, asks("a", 0, 10), asks("a", 1, 11), asks("c", 2, 12), []Step{grant("a", 0, 10)}, handOver)
	left := leaves("a", 1, 11)
	crossed := slices.Concat(start, asks("c", 2, 9), asks("a", 0, 10, 11))
	for name, c := range map[string]struct {
		steps   []Step
		decided int
	}{
		"both have had the lock":                        {slices.Concat(queue, left, end, asks("b", 0, 13), asks("b", 1, 14), holds("c", 2, 12)), 21},
		"one is told early that the lock is released":   {slices.Concat(queue, left[:1], left[2:], end, holds("c", 2, 12)), 16},
		"the other comes in the next session":           {slices.Concat(crossed, end, created("b", 11), asks("b", 1, 12), holds("c", 2, 9), holds("b", 0, 11), holds("b", 1, 12)), 19},
		"the other comes in the session that was left":  {slices.Concat(crossed, created("b", 11), asks("a", 1, 12), holds("c", 2, 9), holds("b", 0, 11)), 5},
		"the other comes in a session that was told of": {slices.Concat(start, asks("c", 2, 9), asks("a", 0, 10), holds("c", 2, 9), holds("a", 0, 10)[:2], leaves("a", 0, 10)[2:], asks("a", 1, 12), end), 11},
	} {
		if r := validate(t, v, c.steps); len(r.Differs) > 0 || r.Steps != c.decided {
			t.Errorf("%s: %+v, want %d steps decided, and no difference", name, r, c.decided)
		}
	}
}

// Steps that no run has made must neither crash the split nor the checker.
func TestAStrangeRecordIsSplit(t *testing.T) {
	kinds := []Kind{Session, Create, Delete, Write, End, Acquire, Grant, Loss, Release, Released, Over, Take, Resize}
	var steps []Step
	for i := range 4000 {
		n := i*i*7 + i/3
		steps = append(steps, Step{Kind: kinds[n%len(kinds)], Lock: []string{"a", "b", ""}[n%3], Process: n%23 - 2, Session: string(rune('a' + n%5)), Node: int64(n % 61), Nodes: []int64{int64(n % 17)}, Granted: n%2 == 0, Clients: []int{n % 11}})
	}
	for _, all := range split(steps) {
		for _, w := range all {
			if len(w.lines) > mostLines {
				t.Errorf("a window of %d lines", len(w.lines))
			}
			for _, l := range w.lines {
				if l.who >= mostSlots {
					t.Fatalf("contender %d", l.who)
				}
			}
		}
	}
}
