package states

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// met counts the states that faults meet in events, and returns the rows as text.
func met(header histories.Header, recipes []histories.Recipe, events ...histories.Event) []string {
	c := NewCoverage(&header, recipes)
	for i := range events {
		events[i].Time = time.Duration(i)
		c.Step(&events[i])
	}
	var out []string
	for fault := range c.Starts {
		for _, r := range recipes {
			var cells []string
			for _, s := range c.States(r) {
				cells = append(cells, fmt.Sprintf("%s %d", s, c.Met[Cell{fault, Doing{r, s}}]))
			}
			out = append(out, fmt.Sprintf("%s on %s: %s", fault, r, strings.Join(cells, ", ")))
		}
	}
	return out
}

func TestAFaultMeetsWhatIsDoneWhileItIsInForce(t *testing.T) {
	on := func(typ histories.Type, p int, op histories.Op) histories.Event {
		return histories.Event{Type: typ, Process: p, Op: op, Lock: "m", Depth: 1}
	}
	fault := func(typ histories.Type, id int, processes ...int) histories.Event {
		return histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: id, Name: "down", Processes: processes}}
	}
	start, stop := histories.FaultStart, histories.FaultStop
	for name, c := range map[string]struct {
		events []histories.Event
		want   string
	}{
		"there is no process": {[]histories.Event{fault(start, 1)}, "idle 0, enqueuing 0, holding 0, releasing 0"},
		"it begins while one holds": {[]histories.Event{
			on(histories.Invoke, 1, histories.Acquire), on(histories.OK, 1, histories.Acquire), fault(start, 1),
		}, "idle 0, enqueuing 0, holding 1, releasing 0"},
		"one comes to wait and to hold while it is in force, and releases when it is over": {[]histories.Event{
			on(histories.Invoke, 1, histories.Acquire), fault(start, 1, 1), on(histories.Enqueued, 1, histories.Acquire), on(histories.OK, 1, histories.Acquire),
			fault(stop, 1, 1), on(histories.Invoke, 1, histories.Release),
		}, "idle 0, enqueuing 1, waiting 1, holding 1, releasing 0"},
		"it hits another": {[]histories.Event{
			on(histories.Invoke, 1, histories.Acquire), fault(start, 1, 2), on(histories.OK, 1, histories.Acquire),
		}, "idle 0, enqueuing 0, holding 0, releasing 0"},
		"a release, and then nothing": {[]histories.Event{
			on(histories.Invoke, 1, histories.Acquire), on(histories.OK, 1, histories.Acquire), on(histories.Invoke, 1, histories.Release),
			fault(start, 1), on(histories.OK, 1, histories.Release),
		}, "idle 1, enqueuing 0, holding 0, releasing 1"},
		"a state counts once for each fault": {[]histories.Event{
			fault(start, 1), fault(start, 2), on(histories.Invoke, 1, histories.Acquire), on(histories.Fail, 1, histories.Acquire),
			on(histories.Invoke, 1, histories.Acquire), on(histories.Fail, 1, histories.Acquire),
		}, "idle 2, enqueuing 2, holding 0, releasing 0"},
		"a re-entry goes on holding": {[]histories.Event{
			on(histories.Invoke, 1, histories.Acquire), on(histories.OK, 1, histories.Acquire), fault(start, 1),
			on(histories.Invoke, 1, histories.Acquire), {Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "m", Depth: 2},
			{Type: histories.Invoke, Process: 1, Op: histories.Release, Lock: "m", Depth: 2}, {Type: histories.OK, Process: 1, Op: histories.Release, Lock: "m", Depth: 2},
		}, "idle 0, enqueuing 0, holding 1, releasing 0"},
		"who was told of the loss holds nothing, who crashed is no more": {[]histories.Event{
			on(histories.Invoke, 1, histories.Acquire), on(histories.OK, 1, histories.Acquire), {Type: histories.Lost, Process: 1, Lock: "m"},
			on(histories.Invoke, 2, histories.Acquire), on(histories.OK, 2, histories.Acquire), {Type: histories.Crash, Process: 2, Lock: "m"}, fault(start, 1),
		}, "idle 1, enqueuing 0, holding 0, releasing 0"},
	} {
		t.Run(name, func(t *testing.T) {
			got := met(histories.Header{Recipe: "mutex"}, []histories.Recipe{histories.Mutex}, c.events...)
			if want := []string{"down on mutex: " + c.want}; !reflect.DeepEqual(got, want) {
				t.Errorf("got %v, want %v", got, want)
			}
		})
	}
}

// A failpoint that no server reached has met no state.
func TestAFaultThatWasNotReachedMeetsNothing(t *testing.T) {
	c := NewCoverage(&histories.Header{Recipe: "mutex"}, []histories.Recipe{histories.Mutex})
	strike := func(id int, reached string) []histories.Event {
		f := histories.Fault{ID: id, Name: "failpoint", Params: map[string]string{histories.Point: "diff-sync", histories.Action: "halt"}}
		over := f
		over.Params = map[string]string{histories.Point: "diff-sync", histories.Action: "halt", histories.Reached: reached}
		return []histories.Event{
			{Type: histories.FaultStart, Process: -1, Fault: &f}, {Type: histories.Invoke, Process: 1, Op: histories.Release, Lock: "m", Depth: 1},
			{Type: histories.OK, Process: 1, Op: histories.Release, Lock: "m", Depth: 1}, {Type: histories.Invoke, Process: 1, Op: histories.Acquire, Lock: "m"},
			{Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "m", Depth: 1}, {Type: histories.FaultStop, Process: -1, Fault: &over},
		}
	}
	events := []histories.Event{{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Lock: "m"}, {Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "m", Depth: 1}}
	events = append(append(append(events, strike(1, "0")...), strike(2, "3")...), strike(3, "0")...)
	for i := range events {
		c.Step(&events[i])
	}
	holding := Doing{histories.Mutex, Holding}
	if c.Starts["failpoint"] != 3 || c.Found[Cell{"failpoint", holding}] != 1 || c.FoundByAny(holding) != 1 || c.Met[Cell{"failpoint", holding}] != 1 || c.Met[Cell{"failpoint", Doing{histories.Mutex, Releasing}}] != 1 {
		t.Errorf("%d started, found %v, met %v", c.Starts["failpoint"], c.Found, c.Met)
	}
	if want := (Reach{Faults: 3, Missed: 2, Times: 3}); c.Points["halt at diff-sync"] != want {
		t.Errorf("the points are %+v, want %+v", c.Points, want)
	}
}

func TestEachRecipeIsMetByItself(t *testing.T) {
	header := histories.Header{Locks: map[string]histories.Lock{
		"m": {Recipe: histories.MultiLock}, "n": {Recipe: histories.MultiLock}, "b": {Recipe: histories.Barrier}, "d": {Recipe: histories.DoubleBarrier, Size: 2},
	}}
	parts := []histories.Part{{Lock: "m"}, {Lock: "n"}}
	got := met(header, []histories.Recipe{histories.MultiLock, histories.Barrier, histories.DoubleBarrier},
		histories.Event{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Parts: parts},
		histories.Event{Type: histories.OK, Process: 1, Op: histories.Acquire, Parts: parts, Depth: 1},
		histories.Event{Type: histories.Invoke, Process: 2, Op: histories.Enter, Lock: "d"},
		histories.Event{Type: histories.OK, Process: 2, Op: histories.Enter, Lock: "d"},
		histories.Event{Type: histories.Invoke, Process: 3, Op: histories.Wait, Lock: "b"},
		histories.Event{Type: histories.FaultStart, Process: -1, Fault: &histories.Fault{ID: 1, Name: "bridge"}},
		histories.Event{Type: histories.Invoke, Process: 2, Op: histories.Leave, Lock: "d"},
	)
	want := []string{
		"bridge on multilock: idle 2, enqueuing 0, holding 1, releasing 0",
		"bridge on barrier: idle 2, waiting 1",
		"bridge on doublebarrier: idle 2, waiting 0, holding 1, releasing 1",
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

// Most events do not change the state of their process. Skipping them must not change the
// counts.
func TestFaultsMeetTheSameWhetherOrNotAProcessStaysAsItWas(t *testing.T) {
	header := &histories.Header{Locks: map[string]histories.Lock{"a": {Recipe: histories.Mutex}}}
	fault := func(id int, typ histories.Type) histories.Event {
		return histories.Event{Type: typ, Process: -1, Fault: &histories.Fault{ID: id, Name: "down"}}
	}
	op := func(typ histories.Type, op histories.Op) histories.Event {
		return histories.Event{Type: typ, Process: 0, Op: op, Lock: "a"}
	}
	says := histories.Event{Type: histories.Says, Process: 0, Lock: "a", Saying: &histories.Saying{}}
	c := NewCoverage(header, []histories.Recipe{histories.Mutex})
	for _, e := range []histories.Event{
		op(histories.Invoke, histories.Acquire), fault(1, histories.FaultStart), says, says, op(histories.OK, histories.Acquire), says,
		fault(1, histories.FaultStop), op(histories.Invoke, histories.Release), fault(2, histories.FaultStart), says, op(histories.OK, histories.Release), says,
		fault(2, histories.FaultStop), op(histories.Invoke, histories.Acquire), op(histories.OK, histories.Acquire), fault(3, histories.FaultStart), says,
	} {
		c.Step(&e)
	}
	met := func(s State) int { return c.Met[Cell{"down", Doing{histories.Mutex, s}}] }
	if got := []int{met(Enqueuing), met(Holding), met(Releasing), met(Idle)}; !slices.Equal(got, []int{1, 2, 1, 1}) {
		t.Errorf("met while enqueuing, holding, releasing, idle: %v", got)
	}
}
