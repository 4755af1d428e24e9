package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// exclude reports whether two holds of a read/write lock must not overlap: they
// are of two owners, and one is a writer. An owner never excludes itself: one
// that writes may read as well, and goes on reading when it has given the write
// lock up. A hold that does not say for what is taken for a writer's.
func exclude(a, b *hold) bool {
	return a.owner != b.owner && (a.mode != histories.ModeRead || b.mode != histories.ModeRead)
}

// readWriteJudge: one writer or any number of readers hold the lock.
//
// The definite parts of holds decide it, as they do for a mutex. If two that
// exclude each other overlap, both are held at some instant of any
// linearization. If none do, let every acquire take effect when it returns, and
// every release when it is called: what is held then is never more than the
// definite holds, of which each two may be held together. In one instant the
// releases of what was held come first, then the holds of no length, one after
// the other, then the acquires of what goes on.
//
// As of a mutex, two that overlap are found in the window in which the first of
// them ends.
type readWriteJudge struct {
	v                               *Verdict
	locks                           map[string]*readWriteOf
	raw, readers, writers, downward int
}

// readWriteOf is what the judge knows of one lock.
type readWriteOf struct {
	violations int
	search     holdingsSearch
}

func newReadWriteJudge(_ *trace, v *Verdict) *readWriteJudge {
	v.Promised, v.Expected = true, true
	return &readWriteJudge{v: v, locks: map[string]*readWriteOf{}}
}

func (j *readWriteJudge) window(e *engines, t *trace) {
	for _, lock := range t.locksThat(is(histories.ReadWrite)) {
		of := j.locks[lock]
		if of == nil {
			of = &readWriteOf{search: newHoldingsSearch(besideReaders, 0)}
			j.locks[lock] = of
		}
		holds := t.byLock[lock]
		for _, h := range holds {
			if !t.begun(h) {
				continue
			}
			if h.mode == histories.ModeRead {
				j.readers++
			} else {
				j.writers++
			}
		}
		j.downward += downgraded(t, holds)
		if e.sweeps {
			sweep(piecesOf(holds), exclude, func(a, b piece) bool {
				if !t.over(a.hold) && !t.over(b.hold) {
					return true // not yet
				}
				j.v.violate(func() Witness { return t.notAlone(a, b) })
				of.violations++
				return of.violations < maxPairs
			})
			sweep(piecesOf(bare(holds)), exclude, func(a, b piece) bool {
				if t.over(a.hold) || t.over(b.hold) {
					j.raw++
				}
				return j.raw < maxPairs
			})
		}
		if e.searches {
			of.search.window(&e.caps, t, holds, nil, allKnown(t))
		}
	}
}

func (j *readWriteJudge) conclude(e *engines, t *trace) {
	v := j.v
	for _, lock := range t.locksThat(is(histories.ReadWrite)) {
		of := j.locks[lock]
		e.compare(t, v, lock, of.violations > 0, of.search.answer)
	}
	v.count("holds to read", j.readers)
	v.count("holds to write", j.writers)
	v.count("downgrades", j.downward)
	v.count("overlaps", v.Violations)
	v.count("overlaps excused by a forced expiry or a pause", max(j.raw-v.Violations, 0))
	switch {
	case v.Outcome == Unknown: // the engines disagree
	case j.readers+j.writers == 0:
		v.idle("nobody ever held a lock")
	default:
		v.conclude(fmt.Sprintf("%s to read, %d to write, no writer beside anybody else", words.Count(j.readers, "hold"), j.writers),
			"a writer and somebody else held one lock at the same time, "+words.Times(v.Violations))
	}
}

// downgraded counts the writers that ended in this window and whose owner had
// taken the read lock meanwhile, and had it still.
func downgraded(t *trace, holds []*hold) int {
	n := 0
	for _, w := range holds {
		if w.mode == histories.ModeRead || !t.over(w) {
			continue
		}
		if slices.ContainsFunc(holds, func(r *hold) bool {
			return r.mode == histories.ModeRead && r.owner == w.owner && r.start >= w.start && r.start < w.end && r.end > w.end
		}) {
			n++
		}
	}
	return n
}

// notAlone tells of a writer and of another holder.
func (t *trace) notAlone(a, b piece) Witness {
	doing := func(h *hold) string {
		if h.mode == histories.ModeRead {
			return "to read"
		}
		return "to write"
	}
	first, second := a.hold, b.hold
	if second.start < first.start {
		first, second = second, first
	}
	return t.overlap(a, b, func(p, q Party) string {
		return fmt.Sprintf("%v held lock %q %s and %v held it %s", p, first.lock, doing(first), q, doing(second))
	})
}
