package checker

import (
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// numbered reports to p its place in a queue whose places have no tokens.
func (r *run) numbered(ms, p, sequence int) *run {
	return r.add(ms, histories.Event{Type: histories.Enqueued, Process: p, Lock: "a", Sequence: sequence, Session: session(p)})
}

func TestFairnessOfSemaphores(t *testing.T) {
	of := func(make func(*run)) func(*run) { return semaphore(histories.Semaphore, make) }
	answers(t, Fairness, []known{
		{"semaphore: served in the order of the queue", of(func(r *run) {
			r.asks(0, 1, 3).numbered(1, 1, 1).asks(2, 2, 1).numbered(3, 2, 2).gets(4, 1, 3, 10).back(5, 1, 3, 10).gets(6, 2, 1, 11)
		}), verdict.Holds},
		{"semaphore: one who asks for less is served before one who waits for more", of(func(r *run) {
			r.asks(0, 1, 3).numbered(1, 1, 1).asks(2, 2, 1).numbered(3, 2, 2).gets(4, 2, 1, 10).back(5, 2, 1, 10).gets(6, 1, 3, 11)
		}), verdict.Violated},
		{"semaphore: the one ahead was served first and hears of it later", of(func(r *run) {
			r.asks(0, 1, 1).numbered(1, 1, 1).asks(2, 2, 1).numbered(3, 2, 2).gets(4, 2, 1, 11).gets(5, 1, 1, 10)
		}), verdict.Holds},
		{"semaphore: both are served in one transaction", of(func(r *run) {
			sub := tok(10)
			sub.Sub = 1
			r.asks(0, 1, 1).numbered(1, 1, 1).asks(2, 2, 1).numbered(3, 2, 2)
			r.op(4, histories.OK, 2, histories.Acquire, histories.Event{Permits: 1, Depth: 1, Token: tok(10)})
			r.op(5, histories.OK, 1, histories.Acquire, histories.Event{Permits: 1, Depth: 1, Token: sub})
		}), verdict.Holds},
		{"semaphore: the other had asked before the first knew its place", of(func(r *run) {
			r.asks(0, 1, 1).asks(1, 2, 1).numbered(2, 1, 1).numbered(3, 2, 2).gets(4, 2, 1, 10).gets(5, 1, 1, 11)
		}), verdict.NotExercised},
		{"semaphore: the one ahead gives up", of(func(r *run) {
			r.asks(0, 1, 3).numbered(1, 1, 1).asks(2, 2, 1).numbered(3, 2, 2).
				op(4, histories.Fail, 1, histories.Acquire, histories.Event{Permits: 3}).gets(5, 2, 1, 10)
		}), verdict.NotExercised},
		{"semaphore: the one ahead loses its place with its session and takes another", of(func(r *run) {
			r.asks(0, 1, 1).numbered(1, 1, 1).asks(2, 2, 1).numbered(3, 2, 2).expired(4, 1).numbered(5, 1, 3).gets(6, 2, 1, 10).gets(7, 1, 1, 11)
		}), verdict.NotExercised},
		{"semaphore: it loses its place while its session goes on, and takes another", of(func(r *run) {
			r.asks(0, 1, 1).numbered(1, 1, 1).numbered(5, 1, 3).gets(7, 1, 1, 11).back(8, 1, 1, 11)
		}), verdict.Violated},
		{"semaphore: it is told its place twice", of(func(r *run) {
			r.asks(0, 1, 1).numbered(1, 1, 1).numbered(5, 1, 1).gets(7, 1, 1, 11).back(8, 1, 1, 11)
		}), verdict.NotExercised},
		{"semaphore: the first hears of its place and its turn late, and a third asks meanwhile", of(func(r *run) {
			r.asks(0, 1, 1).asks(1, 2, 1).numbered(2, 2, 2).asks(3, 3, 1).numbered(4, 1, 1).gets(5, 1, 1, 10).back(6, 1, 1, 10).
				gets(7, 2, 1, 11).back(8, 2, 1, 11).numbered(9, 3, 3).gets(10, 3, 1, 12).asks(20, 4, 1).numbered(21, 4, 4).gets(22, 4, 1, 13)
		}), verdict.NotExercised},
		{"semaphore: overtaken long after", of(func(r *run) {
			r.asks(0, 1, 3).numbered(1, 1, 1)
			for i := range 5 {
				r.asks(10*i+2, 2, 1).numbered(10*i+3, 2, 2+i).gets(10*i+4, 2, 1, 10+i).back(10*i+5, 2, 1, 10+i)
			}
			r.gets(60, 1, 3, 30)
		}), verdict.Violated},
	})
}

func TestFairnessOfALockThatIsNotReentrant(t *testing.T) {
	of := func(make func(*run)) func(*run) {
		return func(r *run) {
			r.ofRecipes(map[string]histories.Lock{"a": {Recipe: histories.NonReentrant}})
			make(r)
		}
	}
	answers(t, Fairness, []known{
		{"not reentrant: granted in the order of the queue", of(func(r *run) {
			r.want(0, 1).numbered(1, 1, 1).want(2, 2).numbered(3, 2, 2).got(4, 1, 10).release(5, 1).released(6, 1).got(7, 2, 11)
		}), verdict.Holds},
		{"not reentrant: the second is granted first", of(func(r *run) {
			r.want(0, 1).numbered(1, 1, 1).want(2, 2).numbered(3, 2, 2).got(4, 2, 10).release(5, 2).released(6, 2).got(7, 1, 11)
		}), verdict.Violated},
	})
}

func TestFairnessOfReadersAndWriters(t *testing.T) {
	place := func(r *run, ms, p int, mode histories.Mode, token int) {
		r.add(ms, histories.Event{Type: histories.Enqueued, Process: p, Lock: "a", Mode: mode, Token: tok(token), Session: session(p)})
	}
	asks := func(r *run, ms, p int, mode histories.Mode, token int) {
		r.mode(ms, histories.Invoke, p, histories.Acquire, mode, 0)
		place(r, ms+1, p, mode, token)
	}
	gets := func(r *run, ms, p int, mode histories.Mode, token int) {
		r.mode(ms, histories.OK, p, histories.Acquire, mode, token)
	}
	answers(t, Fairness, []known{
		{"read/write: a reader waits behind a writer that waits", readWrite(func(r *run) {
			r.takes(0, 3, reading, 1)
			asks(r, 1, 1, writing, 2)
			asks(r, 3, 2, reading, 3)
			r.gives(5, 3, reading)
			gets(r, 6, 1, writing, 2)
			r.gives(7, 1, writing)
			gets(r, 8, 2, reading, 3)
		}), verdict.Holds},
		{"read/write: a reader is let in before a writer ahead of it", readWrite(func(r *run) {
			r.takes(0, 3, reading, 1)
			asks(r, 1, 1, writing, 2)
			asks(r, 3, 2, reading, 3)
			gets(r, 5, 2, reading, 3)
			r.gives(6, 2, reading).gives(7, 3, reading)
			gets(r, 8, 1, writing, 2)
		}), verdict.Violated},
		{"read/write: a reader hears before another reader ahead of it", readWrite(func(r *run) {
			asks(r, 1, 1, reading, 2)
			asks(r, 3, 2, reading, 3)
			gets(r, 5, 2, reading, 3)
			gets(r, 6, 1, reading, 2)
		}), verdict.NotExercised},
		{"read/write: a writer is let in before a reader ahead of it", readWrite(func(r *run) {
			asks(r, 1, 1, reading, 2)
			asks(r, 3, 2, writing, 3)
			gets(r, 5, 2, writing, 3)
			r.gives(6, 2, writing)
			gets(r, 7, 1, reading, 2)
		}), verdict.Violated},
		{"read/write: a writer that downgrades need not wait for a writer in the queue", readWrite(func(r *run) {
			asks(r, 0, 1, writing, 1)
			gets(r, 2, 1, writing, 1)
			asks(r, 3, 2, writing, 2)
			asks(r, 5, 1, reading, 3)
			gets(r, 7, 1, reading, 3)
			r.gives(8, 1, writing).gives(9, 1, reading)
			gets(r, 10, 2, writing, 2)
		}), verdict.NotExercised},
	})
}
