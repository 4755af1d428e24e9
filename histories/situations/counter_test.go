package situations

import (
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// header is that of a run of two clients with a lock of each recipe, named like the recipe.
func header() *histories.Header {
	h := &histories.Header{SessionTimeout: 2 * time.Second, Clients: 2, Locks: map[string]histories.Lock{}}
	for _, r := range histories.Recipes() {
		h.Locks[string(r)] = histories.Lock{Recipe: r, Size: 3}
	}
	h.Locks["second"] = histories.Lock{Recipe: histories.MultiLock}
	return h
}

// counts returns the number of occurrences of each situation in a run of events, requests and changes.
func counts(t *testing.T, run []any) Counts {
	t.Helper()
	c := NewCounter(header(), true)
	for _, x := range run {
		switch x := x.(type) {
		case histories.Event:
			c.Event(&x)
		case Call:
			c.Call(&x)
		case Change:
			c.Change(&x)
		default:
			t.Fatalf("%T", x)
		}
	}
	return c.Counts()
}

// on returns an event of process 1 at a time in ms, changed by functions.
func on(at float64, typ histories.Type, op histories.Op, r histories.Recipe, change ...func(*histories.Event)) histories.Event {
	e := histories.Event{Time: time.Duration(at * float64(time.Millisecond)), Type: typ, Op: op, Process: 1, Lock: string(r), Session: "s1"}
	if op == histories.Acquire && typ == histories.OK || op == histories.Release {
		e.Depth = 1
	}
	for _, do := range change {
		do(&e)
	}
	return e
}

func by(process int) func(*histories.Event) {
	return func(e *histories.Event) { e.Process, e.Session = process, "" }
}
func mode(m histories.Mode) func(*histories.Event) { return func(e *histories.Event) { e.Mode = m } }
func token(zxid int64, sub int32) func(*histories.Event) {
	return func(e *histories.Event) { e.Token = histories.Token{Zxid: zxid, Sub: sub} }
}
func permits(n int) func(*histories.Event)  { return func(e *histories.Event) { e.Permits = n } }
func size(n int) func(*histories.Event)     { return func(e *histories.Event) { e.Size = n } }
func store(s string) func(*histories.Event) { return func(e *histories.Event) { e.Store = s } }
func joint(locks ...string) func(*histories.Event) {
	return func(e *histories.Event) {
		e.Lock = ""
		for _, l := range locks {
			e.Parts = append(e.Parts, histories.Part{Lock: l})
		}
	}
}

// strike returns the start of a fault that hits process 1, or as change says.
func strike(at float64, name string, change ...func(*histories.Fault)) histories.Event {
	f := &histories.Fault{ID: int(at * 10), Name: name, Processes: []int{1}, Params: map[string]string{}}
	for _, do := range change {
		do(f)
	}
	return histories.Event{Time: time.Duration(at * float64(time.Millisecond)), Type: histories.FaultStart, Process: -1, Fault: f}
}

// heals returns the end of a fault.
func heals(at float64, of histories.Event) histories.Event {
	return histories.Event{Time: time.Duration(at * float64(time.Millisecond)), Type: histories.FaultStop, Process: -1, Fault: of.Fault}
}

func hits(processes ...int) func(*histories.Fault) {
	return func(f *histories.Fault) { f.Processes = processes }
}
func targets(all ...string) func(*histories.Fault) {
	return func(f *histories.Fault) { f.Targets, f.Processes = all, nil }
}
func params(pairs ...string) func(*histories.Fault) {
	return func(f *histories.Fault) {
		for i := 0; i < len(pairs); i += 2 {
			f.Params[pairs[i]] = pairs[i+1]
		}
	}
}

// expired returns the end of a session, as an observer sees it.
func expired(at float64, session string) histories.Event {
	return histories.Event{Time: time.Duration(at * float64(time.Millisecond)), Type: histories.Expired, Process: -1, Session: session}
}

// node returns the path of a node of a lock.
func node(r histories.Recipe, name string) string { return "/z/run/locks/" + string(r) + "/" + name }

// asks returns a request of the session s1 that was carried out and answered, changed by functions.
func asks(at float64, op Op, path string, change ...func(*Call)) Call {
	c := Call{
		At: time.Duration(at * float64(time.Millisecond)), Client: "c1", Session: "s1", Server: 1, Op: op, Path: path,
		Arrived: true, Committed: int64(at), Answered: true, Received: true, Zxid: int64(at), Returned: true,
	}
	for _, do := range change {
		do(&c)
	}
	return c
}

func unheard(c *Call)  { c.Received = false }
func unsent(c *Call)   { c.Arrived, c.Committed, c.Answered, c.Received = false, 0, false, false }
func arrived(c *Call)  { c.Arrived = true }
func noNode(c *Call)   { c.Committed, c.Failed = 0, NoNode }
func watching(c *Call) { c.Watch, c.Committed = true, 0 }
func returned(c *Call) { c.Returned = false }
func parts(creates, checks, sets int) func(*Call) {
	return func(c *Call) { c.Creates, c.Checks, c.Sets = creates, checks, sets }
}

// changes returns a change by session s1.
func changes(at float64, op Op, path string, change ...func(*Change)) Change {
	c := Change{At: time.Duration(at * float64(time.Millisecond)), Zxid: int64(at), Session: "s1", Op: op, Path: path, Own: op == Create}
	for _, do := range change {
		do(&c)
	}
	return c
}

// The names of operations are short here, since they are in every line.
const (
	invoke, ok, fail       = histories.Invoke, histories.OK, histories.Fail
	acquire, release       = histories.Acquire, histories.Release
	mutex, multi, rw, sema = histories.Mutex, histories.MultiLock, histories.ReadWrite, histories.Semaphore
	shared, rev, double    = histories.SharedSemaphore, histories.Revocation, histories.DoubleBarrier
)

// example is a run in which a situation occurs once, and one that lacks a little of it.
type example struct{ once, never []any }

// Each situation is counted where it occurs, and not where a part of it is missing.
func TestASituationIsCountedWhereItOccurs(t *testing.T) {
	all := map[string]example{}
	for _, some := range []map[string]example{ofFaultsExamples(), ofHoldsExamples(), ofBarriersExamples(), ofRepliesExamples(), ofRacesExamples()} {
		maps.Copy(all, some)
	}
	for _, s := range All() {
		x, known := all[s.Name]
		if !known {
			t.Errorf("%s has no example", s.Name)
			continue
		}
		if n := counts(t, x.once)[s.Name]; n != 1 {
			t.Errorf("%s is counted %d times where it occurs once", s.Name, n)
		}
		if n := counts(t, x.never)[s.Name]; n != 0 {
			t.Errorf("%s is counted %d times where it does not occur", s.Name, n)
		}
	}
	if len(all) != len(All()) {
		t.Errorf("%d examples of %d situations: %v", len(all), len(All()), slices.Sorted(maps.Keys(all)))
	}
}

// A situation of one recipe, or of messages, is no key where runs cannot show it.
func TestWhatARunCannotShowIsNotCounted(t *testing.T) {
	h := &histories.Header{Locks: map[string]histories.Lock{"mutex": {Recipe: histories.Mutex}}}
	got := NewCounter(h, false).Counts()
	if want := Possible([]histories.Recipe{histories.Mutex}, false); !maps.Equal(got, want) || len(want) < 10 {
		t.Errorf("%v, want %v", got, want)
	}
	for _, name := range []string{"create-reply-lost", "second-lock-deleted"} {
		if _, can := got[name]; can {
			t.Errorf("%s is counted", name)
		}
	}
	all := NewCounter(header(), true).Counts()
	if len(all) != len(All()) {
		t.Errorf("%d of %d are counted where all can occur", len(all), len(All()))
	}
}

func TestCountsOfRunsAddUp(t *testing.T) {
	var sum Counts
	sum.Add(nil)
	if sum != nil {
		t.Errorf("%v of no run", sum)
	}
	sum.Add(Counts{"fence-refuses": 0, "delete-lost": 2})
	sum.Add(Counts{"fence-refuses": 0, "delete-lost": 1, "comes-back-too-late": 0})
	missed := sum.Missed()
	if sum["delete-lost"] != 3 || len(missed) != 2 || missed[0].Name != "fence-refuses" || missed[1].Name != "comes-back-too-late" {
		t.Errorf("%v, missed %v", sum, missed)
	}
}

// Names are those of no other situation, recipes and faults are known to the reader of a list.
func TestASituationIsNamedOnce(t *testing.T) {
	named := map[string]bool{}
	for _, s := range All() {
		if named[s.Name] || s.Says == "" || s.Recipes != nil && len(s.Recipes) == 0 {
			t.Errorf("%+v", s)
		}
		named[s.Name] = true
	}
	if len(named) < 25 {
		t.Errorf("%d situations", len(named))
	}
}
