package activity

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// strike has a fault begin that hits clients, as a run does.
func strike(v *Coverage, id int, f fault.Fault, clients ...*Activity) {
	v.Begin(id, f)
	for _, a := range clients {
		v.Count(a.Holding())
		v.Meet(a)
	}
}

func TestARecipeThatWasMetSeldomIsHitBeforeOthers(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex, histories.Semaphore, histories.Barrier})
	locks := map[string]histories.Lock{"lock-0": {Recipe: histories.Mutex}, "semaphore-0": {Recipe: histories.Semaphore}}
	var clients []*Activity
	for i, name := range []string{"lock-0", "semaphore-0"} {
		a := New(i, locks, v)
		a.AddHold(&Holding{Event: histories.Event{Lock: name}})
		clients = append(clients, a)
	}
	picked := func(kind string, patient bool, among ...int) (got []int) {
		var now [][]Doing
		for _, i := range among {
			now = append(now, clients[i].Doing())
		}
		for _, i := range v.Rarest(kind, fault.AtHolder, now, patient) {
			got = append(got, among[i])
		}
		return got
	}
	if got := picked("down", true, 0, 1); len(got) != 2 {
		t.Errorf("of two that were never hit, %v", got)
	}
	strike(v, 1, fault.Fault{Name: "down", Clients: []int{0}}, clients[0])
	if got := picked("down", true, 0, 1); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("after a fault that met a mutex, %v", got)
	}
	if got := picked("latency", true, 0, 1); !reflect.DeepEqual(got, []int{1}) {
		t.Errorf("while no fault has found the semaphore held, %v", got)
	}
	if got := picked("down", true, 0); got != nil {
		t.Errorf("a semaphore may come, and still %v", got)
	}
	if got := picked("down", false, 0); !reflect.DeepEqual(got, []int{0}) {
		t.Errorf("with no more patience, %v", got)
	}
	strike(v, 2, fault.Fault{Name: "reset", Clients: []int{1}}, clients[1])
	if got := picked("latency", true, 0, 1); len(got) != 2 {
		t.Errorf("for another fault, once both were found held: %v", got)
	}
}

func TestAFaultMeetsWhatItsClientsComeToDo(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex})
	locks := map[string]histories.Lock{"lock-0": {Recipe: histories.Mutex}}
	hit, other := New(0, locks, v), New(1, locks, v)
	now := func() [][]Doing { return [][]Doing{hit.Doing(), other.Doing()} }
	ripe := func(kind string) bool { return v.Ripe(kind, now()) }
	if ripe("down") {
		t.Error("ripe while nobody does anything")
	}
	met := func(state fault.Aim) int { return v.counts[cell{"down", Doing{state, histories.Mutex}}] }
	hit.SetRecipe(histories.Mutex)
	other.SetRecipe(histories.Mutex)
	strike(v, 1, fault.Fault{Name: "down", Clients: []int{0}}, hit)
	other.SetWaiting(true)
	for range 2 {
		hit.SetAsking(true)
		hit.SetAsking(false)
	}
	if met(fault.AtWaiter) != 0 || met(fault.AtEnqueuing) != 1 {
		t.Errorf("one fault, whose client never had a place: %v", v.counts)
	}
	for range 2 {
		hit.SetAsking(true)
		hit.SetQueued(Stand{})
		hit.SetAsking(false)
	}
	if met(fault.AtWaiter) != 1 || met(fault.AtEnqueuing) != 1 || met(fault.AtReleasing) != 0 {
		t.Errorf("one fault, whose client waited twice: %v", v.counts)
	}
	v.End(1)
	hit.SetReleasing(true)
	if met(fault.AtReleasing) != 0 {
		t.Errorf("a fault that is over: %v", v.counts)
	}
	hit.SetReleasing(false)
	if got := v.Rarest("down", fault.AtAnyone, now(), true); len(got) != 0 {
		t.Errorf("a holder may come, whom none has met, and still %v", got)
	}
	hit.AddHold(&Holding{Event: histories.Event{Lock: "lock-0"}})
	if got := v.Rarest("down", fault.AtAnyone, now(), true); len(got) != 1 || got[0] != 0 {
		t.Errorf("the first holder: %v", got)
	}
	if !ripe("down") {
		t.Error("not ripe for the first holder")
	}
	strike(v, 2, fault.Fault{Name: "down"}, hit, other)
	if ripe("down") {
		t.Error("ripe for what was met")
	}
	hit.SetReleasing(true)
	if !ripe("down") {
		t.Error("not ripe when all was met")
	}
}
