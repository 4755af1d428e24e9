package simulation

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
	"github.com/zkverify/zkverify/histories"
	model "github.com/zkverify/zkverify/spec"
)

// The process of client 1 asks for a lock, stands still from 1 s to 2 s, and is granted the lock
// and gives it up at given times.
func TestALossAfterAPauseCountsFromItsBeginning(t *testing.T) {
	const ms = time.Millisecond
	for name, c := range map[string]struct {
		granted, ends time.Duration
		as            histories.Type // how it ends
		op            histories.Op
		kinds         []model.Kind
		at            []time.Duration // of the kinds
	}{
		"a hold from before the pause, lost as it wakes up": {
			500 * ms, 2001 * ms, histories.Lost, "", []model.Kind{model.Acquire, model.Grant, model.Loss}, []time.Duration{0, 500 * ms, 500 * ms},
		},
		"a hold from before the pause, given back as it wakes up": {
			500 * ms, 2001 * ms, histories.Invoke, histories.Release, []model.Kind{model.Acquire, model.Grant, model.Loss}, []time.Duration{0, 500 * ms, 500 * ms},
		},
		"a hold from before the pause, lost by the first event, later": {
			500 * ms, 2090 * ms, histories.Lost, "", []model.Kind{model.Acquire, model.Grant, model.Loss}, []time.Duration{0, 500 * ms, 500 * ms},
		},
		"a hold from after the beginning of the fault, which comes to pause it later": {
			1200 * ms, 2001 * ms, histories.Lost, "", []model.Kind{model.Acquire, model.Grant, model.Loss}, []time.Duration{0, 1200 * ms, 1200 * ms},
		},
		"a hold while the fault has not come to pause it": {
			1200 * ms, 1209 * ms, histories.Lost, "", []model.Kind{model.Acquire, model.Grant, model.Loss}, []time.Duration{0, 1200 * ms, 1209 * ms},
		},
		"a hold from the instant after the pause, given back as soon": {
			2001 * ms, 2002 * ms, histories.Invoke, histories.Release, []model.Kind{model.Acquire, model.Grant, model.Release}, []time.Duration{0, 2001 * ms, 2002 * ms},
		},
		"a hold from the instant after the pause, given back later": {
			2009 * ms, 2090 * ms, histories.Invoke, histories.Release, []model.Kind{model.Acquire, model.Grant, model.Release}, []time.Duration{0, 2009 * ms, 2090 * ms},
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				began := time.Now()
				rec, kept, err := histories.Keep(histories.Header{Clients: 2, Recipe: string(histories.Mutex)})
				if err != nil {
					t.Fatal(err)
				}
				pause := histories.Fault{ID: 1, Name: histories.WorkerPause, Processes: []int{1}}
				events := []histories.Event{
					{Type: histories.Invoke, Op: histories.Acquire, Process: 1, Lock: "lock-0"},
					{Time: 1000 * ms, Type: histories.FaultStart, Process: -1, Fault: &pause},
					{Time: 2000 * ms, Type: histories.FaultStop, Process: -1, Fault: &pause},
					{Time: c.granted, Type: histories.OK, Op: histories.Acquire, Process: 1, Lock: "lock-0", Depth: 1},
					{Time: c.ends, Type: c.as, Op: c.op, Process: 1, Lock: "lock-0", Depth: 1},
				}
				if c.granted < 1000*ms { // it wakes up before the end of the pause is recorded
					read := histories.Event{Time: 1999 * ms, Type: histories.Invoke, Op: histories.Read, Process: 1, Lock: "lock-0", Store: histories.StorePlain}
					answer := read
					answer.Type = histories.OK
					events = append(events, read, answer)
				}
				slices.SortStableFunc(events, func(a, b histories.Event) int { return cmp.Compare(a.Time, b.Time) })
				for _, e := range events {
					time.Sleep(e.Time - time.Since(began))
					if _, err := rec.Record(e); err != nil {
						t.Fatal(err)
					}
				}
				if err := rec.Close(); err != nil {
					t.Fatal(err)
				}
				path := filepath.Join(t.TempDir(), "model.jsonl")
				if err := writeRecord(path, kept, nil, began); err != nil {
					t.Fatal(err)
				}
				text, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				var kinds []model.Kind
				var at []time.Duration
				left := false
				for line := range bytes.Lines(text) {
					var s model.Step
					if err := json.Unmarshal(line, &s); err != nil {
						t.Fatal(err)
					}
					kinds, at = append(kinds, s.Kind), append(at, s.Time)
					left = left || s.Left
				}
				if want := c.op == histories.Release && c.kinds[2] == model.Loss; left != want {
					t.Errorf("the record says that the client may give back what was lost: %v, want %v", left, want)
				}
				if !slices.Equal(kinds, c.kinds) || !slices.Equal(at, c.at) {
					t.Errorf("the record has %v at %v, want %v at %v", kinds, at, c.kinds, c.at)
				}
			})
		})
	}
}

func TestRecipesWithTheQueueOfTheMutexAreOnRecord(t *testing.T) {
	for _, recipe := range histories.Recipes() {
		rec, kept, err := histories.Keep(histories.Header{Clients: 1, Recipe: string(recipe)})
		if err != nil {
			t.Fatal(err)
		}
		_, err = rec.Record(histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0"})
		path := filepath.Join(t.TempDir(), "model.jsonl")
		if err := cmp.Or(err, rec.Close(), writeRecord(path, kept, nil, time.Now())); err != nil {
			t.Fatal(err)
		}
		want := slices.Contains([]histories.Recipe{histories.Mutex, histories.Revocation, histories.Election, histories.ReadWrite, histories.NonReentrant, histories.Handoff, histories.Semaphore, histories.SharedSemaphore, histories.MultiLock}, recipe)
		if _, err := os.Stat(path); (err == nil) != want {
			t.Errorf("a record of recipe %s: %v", recipe, err)
		}
	}
}

// A reader with the place of a writer was that writer, unless the directory is another one. Its token is
// that of the writer, one further, and the record has its node. A permit counts as the node in whose
// place it comes.
func TestNodesThatHaveTheTokenOfAnotherAreOnRecord(t *testing.T) {
	const dir = "/run/locks/lock-0"
	create := func(path string) txnlog.Change {
		return txnlog.Change{Op: wire.Create, Path: dir + path, Ephemeral: path != ""}
	}
	remove := func(path string) txnlog.Change { return txnlog.Change{Op: wire.Delete, Path: dir + path} }
	for _, c := range []struct {
		recipe histories.Recipe
		mode   histories.Mode
		token  histories.Token
		txns   [][]txnlog.Change // from 10 on
		want   [][3]int64        // of creates, deletes and grants: the node, that of its writer, and 1 for a reader's
	}{
		{
			histories.ReadWrite, histories.ModeRead, histories.Token{Zxid: 11, Sub: 1},
			[][]txnlog.Change{{create("")}, {create("/_c_a-__WRIT__0000000000")}, {create("/_c_b-__READ__0000000000")}, {create("")}, {create("/_c_c-__READ__0000000000")}},
			[][3]int64{{11, 0, 0}, {12, 11, 1}, {14, 0, 1}, {12, 0, 1}},
		},
		{
			histories.NonReentrant, "", histories.Token{Zxid: 11},
			[][]txnlog.Change{{create("/locks/_c_a-lock-0000000000")}, {create("/leases/_c_b-lease-0000000000"), remove("/locks/_c_a-lock-0000000000")}, {remove("/leases/_c_b-lease-0000000000")}},
			[][3]int64{{10, 0, 0}, {10, 0, 0}, {10, 0, 0}},
		},
	} {
		asked := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0", Mode: c.mode}
		granted := asked
		granted.Type, granted.Depth, granted.Token = histories.OK, 1, c.token
		var nodes [][3]int64
		for _, s := range recordOf(t, c.recipe, []histories.Event{asked, granted}, c.txns) {
			n := [3]int64{s.Node, s.Writer}
			if s.Read {
				n[2] = 1
			}
			if s.Kind == model.Create || s.Kind == model.Delete || s.Kind == model.Grant {
				nodes = append(nodes, n)
			}
		}
		if !slices.Equal(nodes, c.want) {
			t.Errorf("%s: the record has %v, want %v", c.recipe, nodes, c.want)
		}
	}
}

// The node of a grant that was handed on is not of its acquire. The client of a process that crashes may
// hand its node on.
func TestAHandOffIsOnRecord(t *testing.T) {
	asked := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0"}
	granted := asked
	granted.Type, granted.Depth, granted.Token = histories.OK, 1, histories.Token{Zxid: 10, Sub: 2}
	steps := recordOf(t, histories.Handoff, []histories.Event{asked, granted, {Type: histories.Crash}},
		[][]txnlog.Change{{{Op: wire.Create, Path: "/run/locks/lock-0/_c_a-lock-0000000000", Ephemeral: true}}})
	steps = slices.DeleteFunc(steps, func(s model.Step) bool { return s.Kind == model.Session || s.Read })
	if len(steps) != 4 || len(steps[1].Nodes) > 0 || !steps[1].Granted || steps[2].Node != 10 || steps[2].Sub != 2 || !steps[3].Left {
		t.Errorf("the record has %+v", steps)
	}
}

// A transaction may put permits in place of several nodes. The token of a grant tells which of them, if the
// acquire is not known to have created one. The size is that of the run, or of a node.
func TestPermitsAndSizesAreOnRecord(t *testing.T) {
	const dir = "/run/locks/lock-0"
	create := func(path string) txnlog.Change {
		return txnlog.Change{Op: wire.Create, Path: dir + path, Ephemeral: true}
	}
	remove := func(path string) txnlog.Change { return txnlog.Change{Op: wire.Delete, Path: dir + path} }
	const a, b, first, second, third = "/locks/_c_a-lock-0000000000", "/locks/_c_b-lock-0000000001", "/leases/_c_c-lease-0000000000", "/leases/_c_c-lease-0000000001", "/leases/_c_d-lease-0000000002"
	asked := histories.Event{Type: histories.Invoke, Op: histories.Acquire, Lock: "lock-0", Permits: 1}
	granted := asked
	granted.Type, granted.Depth, granted.Token = histories.OK, 1, histories.Token{Zxid: 14, Sub: 1}
	steps := recordOf(t, histories.SharedSemaphore, []histories.Event{asked, granted}, [][]txnlog.Change{
		{{Op: wire.Create, Path: dir + "-size", Data: []byte{0, 0, 0, 3}}},
		{create(a)}, {create(b)},
		{{Op: wire.SetData, Path: dir + "-size", Data: []byte{0, 0, 1, 0}}},
		{create(first), create(second), remove(a), create(third), remove(b), {Op: wire.Check, Path: dir + "-size"}},
		{remove(first)},
		{remove(third)},
	})
	var got []string
	for _, s := range steps {
		if s.Kind != model.Session && s.Kind != model.Acquire {
			got = append(got, fmt.Sprint(s.Kind, s.Node, s.Nodes, s.Permits))
		}
	}
	if want := []string{"resize0 [] 3", "create11 [] 0", "create12 [] 0", "resize0 [] 256", "take0 [11 12] 3", "delete11 [] 0", "delete12 [] 0", "grant12 [] 0"}; !slices.Equal(got, want) {
		t.Errorf("the record has %q, want %q", got, want)
	}
	fixed := recordOf(t, histories.Semaphore, []histories.Event{asked}, nil)
	if len(fixed) != 2 || fixed[0].Kind != model.Resize || fixed[0].Permits != 2 {
		t.Errorf("the record of a semaphore of two permits has %+v", fixed)
	}
}

// recordOf returns the record of events, and of transactions before them.
func recordOf(t *testing.T, recipe histories.Recipe, events []histories.Event, txns [][]txnlog.Change) (steps []model.Step) {
	t.Helper()
	began := time.Now()
	header := histories.Header{Clients: 1, Recipe: string(recipe)}
	if recipe == histories.Semaphore {
		header.Locks = map[string]histories.Lock{"lock-0": {Recipe: recipe, Size: 2}}
	}
	rec, kept, err := histories.Keep(header)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range events {
		if _, err = rec.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	var all []txnlog.Txn
	for i, changes := range txns {
		all = append(all, txnlog.Txn{Zxid: int64(10 + i), Session: 1, Time: began.Add(-time.Second), Changes: changes})
	}
	path := filepath.Join(t.TempDir(), "model.jsonl")
	if err := cmp.Or(rec.Close(), writeRecord(path, kept, all, began)); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for line := range bytes.Lines(text) {
		var s model.Step
		if err := json.Unmarshal(line, &s); err != nil {
			t.Fatal(err)
		}
		steps = append(steps, s)
	}
	return steps
}
