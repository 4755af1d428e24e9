package checker

import (
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

const (
	reading = histories.ModeRead
	writing = histories.ModeWrite
)

// mode performs an operation on a read/write lock: ok, unless typ says
// otherwise.
func (r *run) mode(ms int, typ histories.Type, p int, op histories.Op, mode histories.Mode, token int) *run {
	e := histories.Event{Mode: mode, Depth: 1, Session: session(p)}
	if token > 0 && typ == histories.OK {
		e.Token = tok(token)
	}
	return r.op(ms, typ, p, op, e)
}

// takes acquires within one millisecond.
func (r *run) takes(ms, p int, mode histories.Mode, token int) *run {
	return r.mode(ms, histories.Invoke, p, histories.Acquire, mode, 0).mode(ms, histories.OK, p, histories.Acquire, mode, token)
}

func (r *run) gives(ms, p int, mode histories.Mode) *run {
	return r.mode(ms, histories.Invoke, p, histories.Release, mode, 0).mode(ms, histories.OK, p, histories.Release, mode, 0)
}

// readWrite makes lock a a read/write lock.
func readWrite(make func(*run)) func(*run) {
	return func(r *run) {
		r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.ReadWrite}})
		make(r)
	}
}

func TestReadersAndWriters(t *testing.T) {
	cases := []known{
		{"no lock is ever held", func(r *run) { r.mode(1, histories.Invoke, 1, histories.Acquire, reading, 0) }, verdict.NotExercised},
		{"many readers at the same time", func(r *run) {
			r.takes(1, 1, reading, 1).takes(2, 2, reading, 2).takes(3, 3, reading, 3).gives(4, 1, reading).gives(5, 2, reading)
		}, verdict.Holds},
		{"a writer comes when the last reader has gone", func(r *run) {
			r.takes(1, 1, reading, 1).takes(2, 2, reading, 2).gives(3, 1, reading).gives(4, 2, reading).takes(5, 3, writing, 3)
		}, verdict.Holds},
		{"a writer comes while a reader is left", func(r *run) {
			r.takes(1, 1, reading, 1).takes(2, 2, reading, 2).gives(3, 1, reading).takes(4, 3, writing, 3).gives(5, 2, reading)
		}, verdict.Violated},
		{"a reader comes while there is a writer", func(r *run) {
			r.takes(1, 1, writing, 1).takes(2, 2, reading, 2).gives(3, 1, writing)
		}, verdict.Violated},
		{"two writers", func(r *run) { r.takes(1, 1, writing, 1).takes(2, 2, writing, 2) }, verdict.Violated},
		{"a writer reads as well", func(r *run) {
			r.takes(1, 1, writing, 1).takes(2, 1, reading, 2).gives(3, 1, reading).gives(4, 1, writing).takes(5, 2, writing, 3)
		}, verdict.Holds},
		{"a writer that reads as well lets another reader in", func(r *run) {
			r.takes(1, 1, writing, 1).takes(2, 1, reading, 2).takes(3, 2, reading, 3).gives(4, 1, writing)
		}, verdict.Violated},
		{"after a downgrade other readers come", func(r *run) {
			r.takes(1, 1, writing, 1).takes(2, 1, reading, 2).gives(3, 1, writing).takes(4, 2, reading, 3).gives(5, 1, reading)
		}, verdict.Holds},
		{"after a downgrade a queued writer comes", func(r *run) {
			r.takes(1, 1, writing, 1).mode(1, histories.Invoke, 2, histories.Acquire, writing, 0).takes(2, 1, reading, 3).gives(3, 1, writing)
			r.mode(4, histories.OK, 2, histories.Acquire, writing, 2).gives(5, 1, reading)
		}, verdict.Violated},
		{"an owner that its acquires do not name downgrades", func(r *run) {
			e := histories.Event{Mode: writing, Depth: 1}
			r.op(1, histories.Invoke, 1, histories.Acquire, e)
			e.Owner = "o"
			r.op(1, histories.OK, 1, histories.Acquire, e).takes(2, 1, reading, 2)
		}, verdict.Holds},
		{"a reader writes as well, alone", func(r *run) { r.takes(1, 1, reading, 1).takes(2, 1, writing, 2) }, verdict.Holds},
		{"a reader writes as well, beside another", func(r *run) {
			r.takes(1, 1, reading, 1).takes(2, 2, reading, 2).takes(3, 1, writing, 3).gives(4, 2, reading)
		}, verdict.Violated},
		{"an inner release frees nothing", func(r *run) {
			deep := histories.Event{Mode: writing, Depth: 2, Token: tok(1)}
			r.takes(1, 1, writing, 1).both(2, histories.OK, 1, histories.Acquire, deep).both(3, histories.OK, 1, histories.Release, deep)
			r.takes(4, 2, reading, 2).gives(5, 1, writing)
		}, verdict.Violated},
		{"a writer that was told of its loss believes nothing", func(r *run) {
			r.takes(1, 1, writing, 1).add(2, histories.Event{Type: histories.Lost, Process: 1, Lock: "a", Mode: writing}).takes(3, 2, writing, 2)
		}, verdict.Holds},
		{"a writer is told of the loss of what it reads alone", func(r *run) {
			r.takes(1, 1, writing, 1).takes(1, 1, reading, 2).add(2, histories.Event{Type: histories.Lost, Process: 1, Lock: "a", Mode: reading}).takes(3, 2, reading, 3).gives(4, 1, writing)
		}, verdict.Violated},
		{"an acquire that is never answered is no hold", func(r *run) {
			r.mode(1, histories.Invoke, 1, histories.Acquire, writing, 0).takes(2, 2, reading, 2)
		}, verdict.Holds},
		{"a release that is never answered ends the belief", func(r *run) {
			r.takes(1, 1, writing, 1).mode(2, histories.Invoke, 1, histories.Release, writing, 0).takes(3, 2, reading, 2)
		}, verdict.Holds},
		{"a release is invoked in the instant in which the next acquire returns", func(r *run) {
			r.takes(1, 1, writing, 1).mode(5, histories.Invoke, 1, histories.Release, writing, 0).takes(5, 2, reading, 2)
		}, verdict.Holds},
		{"a forced expiry excuses within the loss bound", func(r *run) {
			r.takes(1, 1, writing, 1).expire(10, 1).takes(12, 2, reading, 2).gives(55, 1, writing)
		}, verdict.Holds},
		{"a forced expiry does not excuse beyond the loss bound", func(r *run) {
			r.takes(1, 1, writing, 1).expire(10, 1).takes(12, 2, reading, 2).gives(65, 1, writing).gives(70, 2, reading)
		}, verdict.Violated},
	}
	for i := range cases {
		cases[i].make = readWrite(cases[i].make)
	}
	answers(t, ReadersAndWriters, cases)
}

func TestAWitnessTellsWhoWroteAndWhoRead(t *testing.T) {
	for _, c := range []struct {
		name string
		make func(*run)
		want string
	}{
		{"a reader beside a writer", func(r *run) {
			r.takes(1, 1, writing, 7).takes(3, 2, reading, 8).gives(5, 1, writing).gives(6, 2, reading)
		}, `process 1 held lock "a" to write and process 2 held it to read from 0.003000 s to 0.005000 s, for 2 ms. No fault was active.`},
		{"a writer beside a reader, when a session had ended", func(r *run) {
			r.takes(1, 1, reading, 7).fault(2, histories.FaultStart, "isolate", 1).expired(2, 1).takes(3, 2, writing, 8)
		}, `process 1 held lock "a" to read and process 2 held it to write from 0.003000 s until the history ends at 0.003000 s; the session of process 1 was seen to end at 0.002000 s. Fault isolate on client was active.`},
		{"two writers", func(r *run) { r.takes(1, 1, writing, 7).takes(3, 2, writing, 8).gives(5, 1, writing) },
			`process 1 held lock "a" to write and process 2 held it to write from 0.003000 s to 0.005000 s, for 2 ms; their tokens grow (0x7, 0x8), so fencing would have protected. No fault was active.`},
	} {
		r := newRun(t)
		readWrite(c.make)(r)
		if got := r.report().Verdict(ReadersAndWriters).Witnesses[0].String(); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

func TestDowngradesAreCounted(t *testing.T) {
	r := newRun(t)
	readWrite(func(r *run) {
		r.takes(1, 1, writing, 1).takes(2, 1, reading, 2).gives(3, 1, writing).gives(4, 1, reading)
		r.takes(5, 1, writing, 3).takes(6, 1, reading, 4).gives(7, 1, reading).gives(8, 1, writing)
	})(r)
	v := r.report().Verdict(ReadersAndWriters)
	if n, _ := v.Figure("downgrades"); n != 1 || v.Reason != "2 holds to read, 2 to write, no writer beside anybody else" {
		t.Error(v, n)
	}
}

// The node of a reader that was a writer is created only while the writer's node stands.
func TestAReaderComesOfAWriterThatStands(t *testing.T) {
	for name, test := range map[string]struct {
		gone, made, parent int // transactions: the end of the writer's node, the reader's node, the parent anew
		number             string
		wrong              bool
	}{
		"the writer's node stands":                {60, 50, 0, "0000000007", false},
		"it is gone":                              {45, 50, 0, "0000000007", true},
		"the reader has a number of its own":      {45, 50, 0, "0000000008", false},
		"the numbers have begun anew":             {45, 50, 47, "0000000007", false},
		"the parent is made anew after the nodes": {45, 50, 51, "0000000007", true},
	} {
		log, gone := newServers(), at(9, test.gone)
		log.Clock = 0
		log.Nodes = []service.Node{
			{Path: "a/_c_1-__WRIT__0000000007", Session: session(1), Created: at(1, 41), Deleted: &gone},
			{Path: "a/_c_2-__READ__" + test.number, Session: session(1), Created: at(9, test.made)},
		}
		if test.parent > 0 {
			log.Parents = []service.Node{{Path: "a", Session: session(1), Created: at(9, test.parent)}}
		}
		r := promising(t)
		readWrite(func(r *run) { r.takes(1, 1, writing, 41).gives(20, 1, writing) })(r)
		v := r.report(WithService(&log.Log)).Verdict(ReadersAndWriters)
		found := len(v.Witnesses) > 0 && strings.Contains(v.Witnesses[0].What, "which was gone")
		if found != test.wrong {
			t.Errorf("%s: %v", name, v)
		}
	}
}
