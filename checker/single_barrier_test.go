package checker

import (
	"maps"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// told is a history with a known answer and, if it is violated, words of its first witness.
type told struct {
	name string
	make func(*run)
	want verdict.Outcome
	says string
	n    int // violations, if not 1
}

func tell(t *testing.T, guarantee string, locks map[string]histories.Lock, cases []told) {
	t.Helper()
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			r := newRun(t).ofRecipes(maps.Clone(locks))
			r.h.Header.Promises.RevokeBound = 10 * time.Millisecond
			c.make(r)
			inCorpus(t, r.h, guarantee, known{c.name, c.make, c.want})
			v := r.report().Verdict(guarantee)
			if v.Outcome != c.want {
				t.Fatalf("got %v, want %s; %v", v, c.want, v.Witnesses)
			}
			if c.want != verdict.Violated {
				return
			}
			if n := max(c.n, 1); v.Violations != n {
				t.Errorf("%d violations, want %d: %v", v.Violations, n, v.Witnesses)
			}
			if got := v.Witnesses[0].What; got != c.says {
				t.Errorf("the witness says\n%s, want\n%s", got, c.says)
			}
		})
	}
}

// do performs an operation from one millisecond to another.
func (r *run) does(from, to, p int, op histories.Op) *run {
	return r.op(from, histories.Invoke, p, op, histories.Event{}).op(to, histories.OK, p, op, histories.Event{})
}

func (r *run) begins(ms, p int, op histories.Op) *run {
	return r.op(ms, histories.Invoke, p, op, histories.Event{})
}

func (r *run) done(ms, p int, op histories.Op) *run { return r.answer(ms, histories.OK, p, op) }

func TestABarrierHoldsBackWhileItIsUp(t *testing.T) {
	const set, remove, wait = histories.Set, histories.Remove, histories.Wait
	up := func(r *run) *run { return r.does(1, 2, 1, set) }
	tell(t, Barriers, map[string]histories.Lock{"a": {Recipe: histories.Barrier}}, []told{
		{"no process waits", func(r *run) { up(r) }, verdict.NotExercised, "", 0},
		{"somebody waits when it was never up", func(r *run) { r.does(1, 2, 1, wait) }, verdict.NotExercised, "", 0},
		{"somebody waits in vain", func(r *run) { up(r).begins(3, 2, wait).answer(4, histories.Fail, 2, wait) }, verdict.Holds, "", 0},
		{"somebody waits for the removal", func(r *run) { up(r).begins(3, 2, wait).does(4, 5, 1, remove).done(6, 2, wait) }, verdict.Holds, "", 0},
		{"somebody passes while it is up", func(r *run) { up(r).does(3, 4, 2, wait).does(5, 6, 1, remove) }, verdict.Violated,
			`process 2 waited at barrier "a" from 0.003000 s and passed at 0.004000 s, although process 1 had put it up by 0.002000 s and no process had asked to remove it since`, 0},
		{"somebody passes when it was put up again", func(r *run) { up(r).does(3, 4, 1, remove).does(5, 6, 1, set).does(7, 8, 2, wait) }, verdict.Violated,
			`process 2 waited at barrier "a" from 0.007000 s and passed at 0.008000 s, although process 1 had put it up by 0.006000 s and no process had asked to remove it since`, 0},
		{"somebody passes while it is put up", func(r *run) {
			up(r).begins(3, 2, wait).answer(4, histories.Fail, 2, wait).does(5, 6, 1, remove).begins(7, 1, set).does(8, 9, 2, wait).done(10, 1, set)
		}, verdict.Holds, "", 0},
		{"somebody passes while the removal is under way", func(r *run) { up(r).begins(3, 2, wait).begins(4, 1, remove).done(5, 2, wait).done(6, 1, remove) }, verdict.Holds, "", 0},
		{"somebody passes before it is known to be removed, by a removal that began before it was up", func(r *run) {
			r.begins(0, 3, remove)
			up(r).does(3, 4, 2, wait).done(5, 3, remove).does(6, 6, 1, set).begins(7, 2, wait).answer(8, histories.Fail, 2, wait)
		}, verdict.Holds, "", 0},
		{"somebody passes, and the removal was never answered", func(r *run) {
			up(r).begins(3, 2, wait).answer(4, histories.Fail, 2, wait).begins(5, 3, remove).answer(6, histories.Info, 3, remove).does(90, 91, 2, wait)
		}, verdict.Holds, "", 0},
		{"two pass, and the removal was never answered", func(r *run) {
			up(r).begins(5, 3, remove).answer(6, histories.Info, 3, remove).does(90, 91, 2, wait).does(92, 93, 1, set).does(94, 95, 2, wait)
		}, verdict.Violated, `process 2 waited at barrier "a" from 0.094000 s and passed at 0.095000 s, although process 1 had put it up by 0.093000 s; what was under way since then, 1 remove, must have let others pass before`, 0},
		{"the removal failed", func(r *run) { up(r).begins(3, 3, remove).answer(4, histories.Fail, 3, remove).does(5, 6, 2, wait) }, verdict.Violated,
			`process 2 waited at barrier "a" from 0.005000 s and passed at 0.006000 s, although process 1 had put it up by 0.002000 s and no process had asked to remove it since`, 0},
		{"two pass, and one removal could explain either but not both", func(r *run) {
			r.begins(0, 3, remove)
			up(r).does(3, 4, 2, wait).does(5, 6, 1, set).does(7, 8, 2, wait).done(9, 3, remove)
		}, verdict.Violated, `process 2 waited at barrier "a" from 0.007000 s and passed at 0.008000 s, although process 1 had put it up by 0.006000 s; what was under way since then, 1 remove, must have let others pass before`, 0},
		{"the setting was never answered", func(r *run) {
			r.begins(1, 3, set).answer(2, histories.Info, 3, set).does(3, 4, 2, wait)
			r.does(5, 6, 1, set).begins(7, 2, wait).answer(8, histories.Fail, 2, wait)
		}, verdict.Holds, "", 0},
		{"a removal that touches the wait explains it", func(r *run) { up(r).begins(3, 2, wait).begins(4, 1, remove).done(4, 2, wait).done(9, 1, remove) }, verdict.Holds, "", 0},
		{"many pass while it is up", func(r *run) { up(r).does(3, 4, 2, wait).does(5, 6, 2, wait).does(7, 8, 3, wait) }, verdict.Violated,
			`process 2 waited at barrier "a" from 0.003000 s and passed at 0.004000 s, although process 1 had put it up by 0.002000 s and no process had asked to remove it since`, 3},
	})
}
