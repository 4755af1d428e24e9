package holding

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// exclude reports whether two holds of a read/write lock must not overlap: they are of two
// owners, and one is a writer. An owner never excludes itself: a writer may read as well, and
// goes on reading after it releases the write lock. A hold without a mode counts as a writer's.
func exclude(a, b *facts.Hold) bool {
	return a.Owner != b.Owner && (a.Mode != histories.ModeRead || b.Mode != histories.ModeRead)
}

// readersBeside is the clash of a read/write lock.
var readersBeside = clash{exclude, func(h *facts.Hold) bool { return h.Mode == histories.ModeRead }}

// readWriteJudge judges that one writer or any number of readers hold the lock.
//
// The definite parts of holds decide this, as they do for a mutex. If two that exclude each
// other overlap, both are held at some instant of any linearization. If none do, let every
// acquire take effect when it returns, and every release when it is called. Then only definite
// holds are held at any instant, and any two of those may be held together. Within one instant
// the releases of earlier holds come first, then the holds of no length, one after the other,
// then the acquires of holds that go on.
//
// As for a mutex, two holds that overlap are found in the window in which the first of them
// ends.
type readWriteJudge struct {
	v                               *verdict.Verdict
	locks                           facts.PerLock[readWriteOf]
	raw, readers, writers, downward int
	causes                          causes
}

// readWriteOf is the judge's record of one lock.
type readWriteOf struct {
	violations int
	search     *holdingsSearch // nil: no search was needed
}

// NewReadWrite returns the judge of read/write locks.
func NewReadWrite(_ *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised, v.Expected = true, true
	return &readWriteJudge{v: v}
}

func (j *readWriteJudge) Window(e *judge.Engines, t *facts.Trace) (kept int) {
	for lock := range t.LocksThat(facts.Is(histories.ReadWrite)) {
		of := j.locks.Make(lock, func() *readWriteOf { return &readWriteOf{} })
		holds := lock.Holds()
		for _, h := range holds {
			if !t.Begun(h) {
				continue
			}
			if h.Mode == histories.ModeRead {
				j.fromNothing(t, h)
				j.readers++
			} else {
				j.writers++
			}
		}
		j.downward += downgraded(t, holds)
		if e.Sweeps {
			sweep(t, facts.PiecesOf(holds), readersBeside, t.Over, func(a, b facts.Piece) bool {
				j.causes.add(a, b)
				j.v.ViolateFrom(max(a.From, b.From), func() verdict.Witness { return notAlone(t, a, b) })
				of.violations++
				return of.violations < maxPairs
			})
			sweep(t, facts.PiecesOf(facts.Bare(holds)), readersBeside, t.Over, func(facts.Piece, facts.Piece) bool {
				j.raw++
				return j.raw < maxPairs
			})
		}
		if e.Searches {
			if of.search == nil {
				of.search = newHoldingsSearch(BesideReaders, 0)
			}
			of.search.window(&e.Caps, t, holds, nil, allKnown(t))
			kept += len(of.search.holds)
		}
	}
	return kept
}

func (j *readWriteJudge) Conclude(e *judge.Engines, t *facts.Trace) {
	v := j.v
	for lock := range t.LocksThat(facts.Is(histories.ReadWrite)) {
		of := j.locks.Of(lock)
		j.blindly(t, lock.Lock)
		e.Compare(t, v, lock.Lock, of.violations > 0, of.search.answer())
	}
	v.Count("holds to read", j.readers)
	v.Count("holds to write", j.writers)
	v.Count("downgrades", j.downward)
	v.Count("overlaps", v.Violations)
	v.Count("overlaps excused by a forced expiry or a pause", max(j.raw-v.Violations, 0))
	switch {
	case v.Outcome == verdict.Unknown: // the engines disagree
	case j.readers+j.writers == 0:
		v.Idle("no client ever held a lock")
	default:
		v.Conclude(fmt.Sprintf("%s to read, %d to write, no writer beside anybody else", words.Count(j.readers, "hold"), j.writers),
			"a writer and somebody else held one lock at the same time, "+words.Times(v.Violations)+j.causes.blame(t, v, notAlone))
	}
}

// downgraded counts the write holds that ended in this window while their owner had the read
// lock, which it had acquired during the write hold.
func downgraded(t *facts.Trace, holds []*facts.Hold) int {
	reads := map[string][]*facts.Hold{} // by owner, each in order
	for _, r := range holds {
		if r.Mode == histories.ModeRead {
			reads[r.Owner] = append(reads[r.Owner], r)
		}
	}
	n := 0
	for _, w := range holds {
		if w.Mode == histories.ModeRead || !t.Over(w) {
			continue
		}
		mine := reads[w.Owner]
		i, _ := slices.BinarySearchFunc(mine, w.End, func(r *facts.Hold, end time.Duration) int { return cmp.Compare(r.Start, end) })
		if i > 0 && mine[i-1].Start >= w.Start && mine[i-1].End > w.End {
			n++
		}
	}
	return n
}

// notAlone returns the witness of a writer and another holder.
func notAlone(t *facts.Trace, a, b facts.Piece) verdict.Witness {
	doing := func(h *facts.Hold) string {
		if h.Mode == histories.ModeRead {
			return "to read"
		}
		return "to write"
	}
	first, second := a.Hold, b.Hold
	if second.Start < first.Start {
		first, second = second, first
	}
	return overlap(t, a, b, func(p, q verdict.Party) string {
		return fmt.Sprintf("%v held lock %q %s and %v held it %s", p, first.Lock, doing(first), q, doing(second))
	})
}
