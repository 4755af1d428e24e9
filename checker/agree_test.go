package checker

import (
	"bytes"
	"context"
	"flag"
	"math/rand/v2"
	"strconv"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/histories"
)

// families are the recipes that one pair of engines judges, and those that are
// judged next to each other.
var families = []struct {
	name    string
	recipes []histories.Recipe
}{
	{"mutual exclusion and fairness", []histories.Recipe{histories.Mutex}},
	{"several mutexes at once", []histories.Recipe{histories.MultiLock, histories.MultiLock, histories.NonReentrant}},
	{"read/write", []histories.Recipe{histories.ReadWrite}},
	{"permits", []histories.Recipe{histories.Semaphore}},
	{"permits of a size that changes", []histories.Recipe{histories.SharedSemaphore}},
	{"barriers", []histories.Recipe{histories.Barrier}},
	{"every recipe", histories.Recipes()},
}

// agreement counts what the engines were shown.
type agreement struct {
	histories, judged, illegal, cuts, brute, undecided int
}

// agree has all engines judge each lock of a history.
func (a *agreement) agree(t *rapid.T, h *histories.History) {
	if err := histories.Validate(h); err != nil {
		t.Fatalf("what was drawn is no history: %v", err)
	}
	a.histories++
	tr := newTrace(h)
	byLock := tr.byLock
	for _, lock := range tr.locks {
		switch r := tr.recipe(lock); {
		case r.Exclusive():
			a.mutex(t, h, lock, piecesOf(byLock[lock]))
			a.queue(t, h, tr, lock)
		case r == histories.ReadWrite:
			a.readWrite(t, h, lock, piecesOf(byLock[lock]))
		case r.HasPermits():
			sizes := tr.sizesOf(lock)
			a.permits(t, h, lock, permitPieces(byLock[lock], sizes), sizes)
		case r == histories.Barrier:
			a.barrier(t, h, tr, lock)
		}
	}
}

// same compares what the sweep found with Porcupine, uncut, cut now and then, and
// cut wherever it can be, and with brute force.
func (a *agreement) same(t *rapid.T, h *histories.History, lock string, found bool, search func(*searchCaps) answer, brute []bruteOp, x int) {
	a.judged++
	if found {
		a.illegal++
	}
	if len(brute) <= maxBrute {
		a.brute++
		if anyOrder(brute, x) == found {
			t.Fatalf("of %s the sweep found a violation: %v; trying every order says otherwise\n%s", lock, found, text(h))
		}
	}
	for _, size := range []int{1 << 30, 8, 1} {
		s := searches()
		s.size = size
		if got := search(s); got.illegal != found {
			t.Fatalf("of %s, cut every %d operations, Porcupine says %v; the sweep found a violation: %v\n%s", lock, size, got, found, text(h))
		}
	}
}

func text(h *histories.History) string {
	var b bytes.Buffer
	if err := histories.Encode(&b, h); err != nil {
		return err.Error()
	}
	return b.String()
}

func searches() *searchCaps {
	return &searchCaps{ctx: context.Background(), left: time.Hour, memory: 1 << 30}
}

func (a *agreement) mutex(t *rapid.T, h *histories.History, lock string, pieces []piece) {
	a.cuts += len(cutHoldings(pieces, nil, 2, beginning(nil), forever, forever)) - 1
	a.same(t, h, lock, overlaps(pieces, differ) > 0, func(s *searchCaps) answer { return s.mutex(pieces) }, bruteHolds(pieces, nil, differ), 0)
}

func (a *agreement) readWrite(t *rapid.T, h *histories.History, lock string, pieces []piece) {
	a.cuts += len(cutHoldings(pieces, nil, 2, beginning(nil), forever, forever)) - 1
	a.same(t, h, lock, overlaps(pieces, exclude) > 0, func(s *searchCaps) answer { return s.readWrite(pieces) }, bruteHolds(pieces, nil, apart), 0)
}

// apart says in its own words what exclude does.
func apart(a, b *hold) bool {
	return a.owner != b.owner && (a.mode == histories.ModeWrite || b.mode == histories.ModeWrite)
}

func (a *agreement) permits(t *rapid.T, h *histories.History, lock string, pieces []piece, sizes *sizes) {
	a.cuts += len(cutHoldings(pieces, sizes, 2, beginning(sizes), forever, forever)) - 1
	found := false
	noRoom(pieces, sizes, func(shortage) { found = true })
	search := func(s *searchCaps) answer { return s.permits(pieces, sizes) }
	if !sizes.exact {
		// What the sweep lets pass is Porcupine's to decide.
		a.undecided++
		s := searches()
		s.size = 1 << 30
		wrong := search(s).illegal
		if found && !wrong {
			t.Fatalf("of %s the sweep found a violation, Porcupine none\n%s", lock, text(h))
		}
		found = wrong
	}
	a.same(t, h, lock, found, search, bruteHolds(pieces, sizes, nil), sizes.all[0].size)
}

func (a *agreement) queue(t *rapid.T, h *histories.History, tr *trace, lock string) {
	queue := tr.queueOf(lock)
	found := false
	sweepQueue(queue, func(_, _ *contender, _ bool) { found = true })
	a.cuts += len(cutQueue(queue, 2, queueStart, forever)) - 1
	a.same(t, h, lock+"'s queue", found, func(s *searchCaps) answer { return s.queue(queue) }, bruteQueue(queue), 0)
}

func (a *agreement) barrier(t *rapid.T, h *histories.History, tr *trace, lock string) {
	x := &crossing{}
	for _, o := range tr.ops {
		if o.lock == lock {
			x.add(o)
		}
	}
	a.cuts += len(cutBarrier(x.operations(), 1, barrierState{}, never)) - 1
	a.same(t, h, lock, len(x.early()) > 0, func(s *searchCaps) answer { return s.barrier(x) }, bruteBarrier(x), 0)
}

// checks has rapid try a property n times, unless the command line says how
// often; a tenth of it under the race detector, which is as much slower.
func checks(t *testing.T, n int, property func(*rapid.T)) {
	t.Helper()
	given := false
	flag.Visit(func(f *flag.Flag) { given = given || f.Name == "rapid.checks" })
	if !given {
		if testing.Short() || raceEnabled {
			n /= 10
		}
		f := flag.Lookup("rapid.checks")
		defer func(was string) { _ = f.Value.Set(was) }(f.Value.String())
		if err := f.Value.Set(strconv.Itoa(n)); err != nil {
			t.Fatal(err)
		}
	}
	rapid.Check(t, property)
}

func TestTheEnginesAgreeOnWholeHistories(t *testing.T) {
	for _, f := range families {
		t.Run(f.name, func(t *testing.T) {
			a := &agreement{}
			checks(t, 10_000, func(t *rapid.T) { a.agree(t, drawHistory(t, f.recipes...)) })
			t.Logf("%+v", *a)
			if a.illegal < a.judged/60 || a.illegal > a.judged*9/10 || a.cuts < a.judged/3 || a.brute < a.judged/10 {
				t.Errorf("the histories are lopsided: %+v", *a)
			}
		})
	}
}

// Whatever is on record, the checker judges it: the engines do not disagree,
// nothing panics, and it is judged the same again.
func TestEveryHistoryIsJudged(t *testing.T) {
	outcomes := map[string]map[Outcome]int{}
	checks(t, 5_000, func(t *rapid.T) {
		h := drawHistory(t, families[rapid.IntRange(0, len(families)-1).Draw(t, "family")].recipes...)
		r, err := Check(context.Background(), h)
		if err != nil {
			t.Fatalf("%v\n%s", err, text(h))
		}
		sameInWindows(t, h, r, rapid.IntRange(1, 12).Draw(t, "window"))
		for i := range r.Verdicts {
			v := &r.Verdicts[i]
			if outcomes[v.Guarantee] == nil {
				outcomes[v.Guarantee] = map[Outcome]int{}
			}
			outcomes[v.Guarantee][v.Outcome]++
			if v.Outcome == Violated && (len(v.Witnesses) == 0 || v.Violations == 0) {
				t.Fatalf("%v, without a witness\n%s", v, text(h))
			}
		}
	})
	t.Log(outcomes)
	for _, g := range []string{MutualExclusion, Fairness, ReadersAndWriters, Permits, Barriers} {
		if few := testing.Short() || raceEnabled; !few && (outcomes[g][Violated] == 0 || outcomes[g][Holds] == 0) {
			t.Errorf("%s was never violated, or never held: %v", g, outcomes[g])
		}
	}
}

// FuzzEngines goes on for as long as it is told to. Minimizing inputs that are but
// interesting would take nearly all of it: go test -fuzz Engines -fuzzminimizetime 10x
func FuzzEngines(f *testing.F) {
	r := rand.NewChaCha8([32]byte{1})
	for range 50 {
		seed := make([]byte, 4096) // long enough to draw a history from
		_, _ = r.Read(seed)        // it never fails
		f.Add(seed)
	}
	f.Fuzz(rapid.MakeFuzz(func(t *rapid.T) {
		h := drawHistory(t, families[rapid.IntRange(0, len(families)-1).Draw(t, "family")].recipes...)
		new(agreement).agree(t, h)
		if _, err := Check(context.Background(), h); err != nil {
			t.Fatalf("%v\n%s", err, text(h))
		}
	}))
}
