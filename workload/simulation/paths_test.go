package simulation

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	model "github.com/zkverify/zkverify/spec"
)

// strikeFor returns the strike for a fault of a path, in a scene with a draw.
func strikeFor(f model.PathFault, draw uint32) *strike {
	k := &strike{scene: fault.Scene{World: timeouts{}, Pick: fault.Pick{Draw: draw}}, all: make([]messageLink, 3), linked: make([]messageLink, 1)}
	k.place(f)
	return k
}

type timeouts struct{ fault.World }

func (timeouts) SessionTimeout() time.Duration { return 2 * time.Second }

func TestAFaultOfAPathIsPlacedAtItsStep(t *testing.T) {
	for _, c := range []struct {
		fault         string
		draw          uint32
		step, at, act string
		length        time.Duration
		links         int
	}{
		{"break create.asked 1 0", 1, stepAcquire, "create.asked", string(links.Down), 500 * time.Millisecond, 1},
		{"break create.asked 1 0", 2, stepAcquire, "create.asked", string(links.RepliesLost), 500 * time.Millisecond, 1},
		{"silence hold 0 1", 2, stepHold, "", holdBackAct, 1940 * time.Millisecond, 3},
		{"expire delete.done 0 0", 1, stepRelease, "delete.done", string(links.BlackHole), 2600 * time.Millisecond, 3},
		{"cancel wait 2 1", 1, stepQueued, "", cancelAct, 500 * time.Millisecond, 3},
		{"crash turn 0 1", 1, stepTurn, momentEvent, crashAct, 500 * time.Millisecond, 3},
		{"delete write.asked 0 1", 1, stepHold, "write.asked", deleteAct, 500 * time.Millisecond, 3},
		{"overtake create.done 1 0", 1, stepAcquire, "create.done", holdBackAct, 500 * time.Millisecond, 3},
	} {
		p := strings.Fields(c.fault)
		f := model.PathFault{Fault: p[0], Step: p[1], Ahead: int(p[2][0] - '0'), Behind: int(p[3][0] - '0')}
		k := strikeFor(f, c.draw)
		if k.step != c.step || k.at != c.at || k.act != c.act || k.length != c.length || len(k.cut) != c.links || k.ahead != f.Ahead || k.behind != f.Behind {
			t.Errorf("%s, draw %d: step %q, at %q, act %q for %v on %d links, %d ahead, %d behind", c.fault, c.draw, k.step, k.at, k.act, k.length, len(k.cut), k.ahead, k.behind)
		}
	}
	for _, p := range model.Paths() {
		for _, f := range p.Faults {
			if k := strikeFor(f, 0); k.act != holdBackAct && !slices.Contains(acts(false), k.act) {
				t.Errorf("%v: the act is %q", p, k.act)
			}
		}
	}
}

// Consecutive runs carry out every path that has a fault once, those of mistakes first.
func TestRunsGoThroughThePaths(t *testing.T) {
	seen, all := map[string]int{}, 0
	for _, paths := range crowds() {
		all += len(paths)
	}
	for n := uint64(0); len(seen) < all; n++ {
		for _, p := range pathsOf(n, 10) {
			seen[p.String()]++
			if len(p.Mistakes) > 0 && n > 8 {
				t.Errorf("%v comes in run %d", p, n)
			}
		}
	}
	for name, p := range pathsNamed() {
		if want := min(len(p.Faults), 1); seen[name] != want {
			t.Errorf("%s: %d times, want %d", name, seen[name], want)
		}
	}
}

// The recipes hold, and most paths of the run are carried out.
func TestPathsOfTheModelsAreCarriedOut(t *testing.T) {
	s := spec(0, SpecPaths, "recipes")
	s.Duration = time.Minute
	o, _ := run(t, s, Look{})
	d := pathsDone(o.Placements)
	if !o.Passed() || d.Tried.Tried < 8 || d.Made < 4 || d.Made+len(d.Left) != d.Tried.Tried || d.All < 100 {
		t.Errorf("%s (%s), %v, left %v", o.Outcome, o.Reason, d, d.Left)
	}
}

// A client that is alone never waits: the cancel of its wait does not take place.
func TestAPathThatIsNotCarriedOutIsTold(t *testing.T) {
	const path = "2: cancel wait 1 0"
	s := spec(1, SpecPaths, "recipes")
	s.Clients = 1
	s.Schedule = &nemesis.Schedule{Steps: []nemesis.Step{{At: time.Second, For: time.Second, Fault: edgesFault, Pick: fault.Pick{Params: map[string]string{pathParam: path}}}}}
	o, _ := run(t, s, Look{})
	if d := pathsDone(o.Placements); d.Tried.Tried != 1 || d.Made != 0 || !slices.Equal(d.Left, []string{path}) {
		t.Errorf("%v, left %v", d, d.Left)
	}
	for name, known := range map[string]bool{path: true, "2: cancel lunch 1 0": false, "2 shared: ": false} {
		if err := atMessage().Allows(fault.Pick{Params: map[string]string{pathParam: name}}); (err == nil) != known {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTheQueueOfARunIsKnownFromItsEvents(t *testing.T) {
	var q queue
	q.begin([]fault.Client{{Index: 0, States: []states.State{states.Holding}}, {Index: 1}, {Index: 2}})
	note := func(client int, kind histories.Type, op histories.Op, zxid int64) {
		q.note(client, &histories.Event{Type: kind, Op: op, Token: histories.Token{Zxid: zxid}})
	}
	note(1, histories.Enqueued, histories.Acquire, 20)
	if _, _, known := q.around(1); known {
		t.Error("client 0 is known, which was in a call before")
	}
	note(0, histories.OK, histories.Release, 0)
	note(2, histories.Enqueued, histories.Acquire, 10)
	note(0, histories.Enqueued, histories.Acquire, 30)
	for client, want := range [][2]int{{2, 0}, {1, 1}, {0, 2}} {
		if ahead, behind, known := q.around(client); ahead != want[0] || behind != want[1] || !known {
			t.Errorf("client %d: %d ahead, %d behind, known: %v, want %v", client, ahead, behind, known, want)
		}
	}
	note(2, histories.Lost, "", 0)
	note(1, histories.Fail, histories.Acquire, 0)
	if ahead, behind, _ := q.around(1); ahead != 1 || behind != 0 {
		t.Errorf("%d ahead of one that has no place, %d behind it", ahead, behind)
	}
}
