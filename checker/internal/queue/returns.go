package queue

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

// returns finds calls that returned long after their context had ended, calls that failed although
// their context went on, for no reason that their recipe gives, acquires of an owner that had the lock
// and was let wait, and tries that waited, if the target promises Returns. They are judged in virtual time alone, where
// the machine delays no call. There a call needs no server to return, and only a pause of its process
// excuses it.
type returns struct {
	t                                 *facts.Trace
	longest                           time.Duration
	late, unexplained, waiting, tries []func() verdict.Witness
}

// bound returns the longest time that a call may take to return, 0 if returns are not judged.
func (r *returns) bound() time.Duration {
	if r.t.Service == nil || !r.t.Service.Exact() || !r.t.Header.Promises.Returns {
		return 0
	}
	return r.t.Header.SessionTimeout / 8
}

func (r *returns) completed(o *facts.Op) {
	bound, late := r.bound(), o.Late()
	if bound > 0 && r.waited(o, bound) {
		r.waiting = append(r.waiting, r.witness(o, o.Call, func(p verdict.Party) string {
			return fmt.Sprintf("%v had lock %q when it called %s at %s, and was answered at %s", p, o.Lock, o.Kind, verdict.At(o.Call), verdict.At(o.Ret))
		}))
		return
	}
	if bound > 0 && o.Kind == histories.TryAcquire && o.OK() {
		r.tried(o)
	}
	switch {
	case bound == 0 || o.Part > 0:
	case o.Unexplained():
		r.unexplained = append(r.unexplained, r.witness(o, o.Call, func(p verdict.Party) string {
			return fmt.Sprintf("%v called %s of %q at %s, and it failed at %s, although its context went on: %s", p, o.Kind, o.Lock, verdict.At(o.Call), verdict.At(o.Ret), o.Why())
		}))
	case late == 0 || len(r.t.Faults.PausedIn(o.Process, o.Ret-late, o.Ret)) > 0:
	case late <= bound:
		r.longest = max(r.longest, late)
	default:
		r.late = append(r.late, r.witness(o, o.Ret-late, func(p verdict.Party) string {
			return fmt.Sprintf("%v called %s of %q; its context ended at %s, and it returned at %s, more than %s later", p, o.Kind, o.Lock, verdict.At(o.Ret-late), verdict.At(o.Ret), verdict.Ms(bound))
		}))
	}
}

// waited reports whether an acquire took long although its owner had the lock all the time. It is
// answered by what the client knows, unless it is a writer's who reads as well: that takes a request.
func (r *returns) waited(o *facts.Op, bound time.Duration) bool {
	h := cmp.Or(o.Again, o.Beside)
	switch {
	case !o.Acquires() || o.Parts > 0 || o.Recipe().HasPermits() || h == nil || h.Process != o.Process || h.End < o.Ret:
		return false
	case o.Again == nil && o.Mode == histories.ModeRead:
		return o.Ret-o.Call > r.t.Header.Promises.TurnBound && r.t.CalmFor(o.Process, o.Call, o.Ret)
	}
	return o.Ret-o.Call > bound && len(r.t.Faults.PausedIn(o.Process, o.Call, o.Ret)) == 0
}

// tried judges a try that got a lock whose contenders have a node each: the nodes ahead of its own were
// gone when it looked, soon after it had created its own. It may have as many other locks to look at as
// one acquire has, and its client's requests may take long. They took so long before that.
func (r *returns) tried(o *facts.Op) {
	h := o.Hold
	if h == nil || h.Acquire != o || o.Beside != nil || o.Reads() || numbered(o.Recipe()) || o.Token.Sub > 0 {
		return
	}
	n, until := r.t.Service.AheadOf(h)
	if n == nil || until-n.Created.Time <= looks*(n.Created.Time-o.Call)+r.bound()/looks || !r.t.CalmFor(o.Process, o.Call, o.Ret) {
		return
	}
	r.tries = append(r.tries, r.witness(o, o.Call, func(p verdict.Party) string {
		return fmt.Sprintf("%v tried lock %q at %s and created its node at %s, and got the lock although another node was ahead until %s",
			p, o.Lock, verdict.At(o.Call), verdict.At(n.Created.Time), verdict.At(until))
	}))
}

// looks is the number of times as long as its request took to reach the leader within which a try has
// looked at its queues: an answer and a list of each take as long as four requests.
const looks = 16

// witness returns the witness of a violation by an operation, which the window may forget.
func (r *returns) witness(o *facts.Op, from time.Duration, what func(verdict.Party) string) func() verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(r.t, o.Lock, from, o.Ret, p)
	w.What = what(p)
	return func() verdict.Witness { return w }
}

// judge adds the violations to a verdict, and describes them, if there are any.
func (r *returns) judge(v *verdict.Verdict) (wrong []string) {
	if r.bound() == 0 {
		return nil
	}
	v.Figures = append(v.Figures, verdict.Figure{Name: "longest return after the end of a context", Value: float64(r.longest) / 1e6, Unit: "ms"})
	for _, w := range slices.Concat(r.late, r.unexplained, r.waiting, r.tries) {
		v.Violate(w)
	}
	if n := len(r.late); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%s returned more than %s after the end of the context", words.Count(n, "call"), verdict.Ms(r.bound())))
	}
	if n := len(r.unexplained); n > 0 {
		wrong = append(wrong, words.Count(n, "call")+" failed for no reason that the recipe gives")
	}
	if n := len(r.waiting); n > 0 {
		wrong = append(wrong, words.Count(n, "acquire")+" by an owner that had the lock let it wait")
	}
	if n := len(r.tries); n > 0 {
		wrong = append(wrong, fmt.Sprintf("%s got a lock although another node was ahead", words.Count(n, "try")))
	}
	return wrong
}
