package journal

import (
	"reflect"
	"sync"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

var locks = map[string]histories.Lock{
	"lock-0": {Recipe: histories.Mutex}, "semaphore-0": {Recipe: histories.Semaphore}, "barrier-0": {Recipe: histories.Barrier},
}

// on records an operation of a process on a lock.
func on(v *Coverage, process int, t histories.Type, op histories.Op, lock string) {
	v.Step(&histories.Event{Type: t, Process: process, Op: op, Lock: lock, Depth: 1})
}

// acquire records that a process gets a lock.
func acquire(v *Coverage, process int, lock string) {
	on(v, process, histories.Invoke, histories.Acquire, lock)
	on(v, process, histories.OK, histories.Acquire, lock)
}

// strike records that a fault begins.
func strike(v *Coverage, id int, name string, processes ...int) {
	v.Step(&histories.Event{Type: histories.FaultStart, Process: -1, Fault: &histories.Fault{ID: id, Name: name, Targets: []string{"client"}, Processes: processes}})
}

func heal(v *Coverage, id int) {
	v.Step(&histories.Event{Type: histories.FaultStop, Process: -1, Fault: &histories.Fault{ID: id}})
}

func TestARecipeThatWasMetSeldomIsHitBeforeOthers(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex, histories.Semaphore, histories.Barrier}, locks)
	acquire(v, 0, "lock-0")
	acquire(v, 1, "semaphore-0")
	picked := func(kind string, patient bool, among ...int) (got []int) {
		for _, i := range v.Rarest(kind, fault.AtHolder, among, patient) {
			got = append(got, among[i])
		}
		return got
	}
	if got := picked("down", true, 0, 1); len(got) != 2 {
		t.Errorf("of two that were never hit, %v", got)
	}
	strike(v, 1, "down", 0)
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
	strike(v, 2, "reset", 1)
	if got := picked("latency", true, 0, 1); len(got) != 2 {
		t.Errorf("for another fault, once both were found held: %v", got)
	}
	if now, across := v.Held(); now != 2 || across != 2 {
		t.Errorf("%d leases held, %d as a fault began: want 2 and 2", now, across)
	}
}

func TestAFaultOfServersWaitsForWhatItsKindHasNotMet(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex}, locks)
	if v.Ripe("down") {
		t.Error("ripe while no process does anything")
	}
	on(v, 0, histories.Invoke, histories.Acquire, "lock-0")
	if !v.Ripe("down") {
		t.Error("not ripe for the first that enqueues")
	}
	strike(v, 1, "down")
	if v.Ripe("down") {
		t.Error("ripe for what was met")
	}
	on(v, 0, histories.Enqueued, histories.Acquire, "lock-0")
	heal(v, 1)
	if got := v.Rarest("down", fault.AtAnyone, []int{0}, true); len(got) != 0 {
		t.Errorf("a holder may come, whom none has met, and still %v", got)
	}
	on(v, 0, histories.OK, histories.Acquire, "lock-0")
	if got := v.Rarest("down", fault.AtAnyone, []int{0}, true); len(got) != 1 || got[0] != 0 {
		t.Errorf("the first holder: %v", got)
	}
	strike(v, 2, "down")
	on(v, 0, histories.Invoke, histories.Release, "lock-0")
	on(v, 0, histories.OK, histories.Release, "lock-0")
	if !v.Ripe("down") {
		t.Error("not ripe when all was met")
	}
}

// A client that has crashed goes on as another process, over the links that are cut.
func TestAFaultHitsTheClientThroughItsCrash(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex}, locks)
	strike(v, 1, "down", 13)
	if !v.HitsNow(3, 10) || v.HitsNow(4, 10) {
		t.Errorf("process 13 of 10 clients: client 3 is hit: %v, client 4: %v", v.HitsNow(3, 10), v.HitsNow(4, 10))
	}
	if got := v.InForce(); !reflect.DeepEqual(got, []string{"down [client]"}) {
		t.Errorf("in force: %v", got)
	}
	if heal(v, 1); v.HitsNow(3, 10) || v.InForce() != nil {
		t.Error("it hits when it is over")
	}
}

func TestWhatIsOnRecordIsWhatFaultsAreAimedBy(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex}, locks)
	a := NewActivity(func() int { return 0 }, v)
	at := func() (all []fault.Aim) {
		var c fault.Client
		a.Status(&c)
		for _, aim := range fault.Aims() {
			if aim.At(c) {
				all = append(all, aim)
			}
		}
		return all
	}
	for _, step := range []struct {
		t    histories.Type
		op   histories.Op
		want []fault.Aim
	}{
		{histories.Invoke, histories.Acquire, []fault.Aim{fault.AtWaiter, fault.AtAnyone, fault.AtEnqueuing}},
		{histories.Enqueued, histories.Acquire, []fault.Aim{fault.AtWaiter, fault.AtAnyone}},
		{histories.OK, histories.Acquire, []fault.Aim{fault.AtHolder, fault.AtAnyone}},
		{histories.Invoke, histories.Release, []fault.Aim{fault.AtAnyone, fault.AtReleasing}},
		{histories.OK, histories.Release, []fault.Aim{fault.AtAnyone}},
	} {
		if on(v, 0, step.t, step.op, "lock-0"); !reflect.DeepEqual(at(), step.want) {
			t.Errorf("after %s %s it is what is aimed at by %v, want %v", step.t, step.op, at(), step.want)
		}
		if busy := len(step.want) > 1; a.IsBusy() != busy {
			t.Errorf("after %s %s it is busy: %v", step.t, step.op, a.IsBusy())
		}
	}
}

// The goroutines of all clients record, while those of faults choose the clients to hit.
func TestARunIsFollowedWhileFaultsAreAimed(t *testing.T) {
	v := NewCoverage([]histories.Recipe{histories.Mutex}, locks)
	const clients, cycles = 4, 200
	var wg sync.WaitGroup
	for process := range clients {
		wg.Go(func() {
			for range cycles {
				acquire(v, process, "lock-0")
				on(v, process, histories.Invoke, histories.Release, "lock-0")
				on(v, process, histories.OK, histories.Release, "lock-0")
			}
			acquire(v, process, "lock-0")
		})
	}
	wg.Go(func() {
		for id := range cycles {
			strike(v, id, "down")
			v.Rarest("down", fault.AtHolder, []int{0, 1, 2, 3}, id%2 == 0)
			v.Ripe("down")
			v.InForce()
			heal(v, id)
		}
	})
	wg.Wait()
	if now, _ := v.Held(); now != clients {
		t.Errorf("%d leases are held, want %d", now, clients)
	}
	if got := v.Rarest("other", fault.AtWaiter, []int{0, 1}, true); got != nil {
		t.Errorf("no process waits, and still %v", got)
	}
}
