package holding

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// failedPlaces finds the holds of one lock that were granted to a place in the queue of an
// acquire over several locks that failed.
//
// A hold that began before that acquire was invoked does not belong to its place. Nor does a
// hold that was asked for when a newer token had been granted already: tokens go back in that
// case, which fencing reports. So a place is forgotten when its token is older than the newest
// token of the grants that every open acquire came after.
type failedPlaces struct {
	failed []failedPlace
	recent []gotPlace      // by start; those that had not returned when the oldest open acquire was invoked
	newest histories.Token // the newest token of the other grants
}

type failedPlace struct {
	op    *facts.Op
	token histories.Token
}

// gotPlace is a hold, with the newest token granted before it was asked for, and the newest
// when it had begun.
type gotPlace struct {
	hold          *facts.Hold
	before, until histories.Token
}

// failedOf returns the places of acquires that failed, by lock.
func failedOf(settled []*group) map[*facts.LockInfo][]failedPlace {
	failed := map[*facts.LockInfo][]failedPlace{}
	for _, g := range settled {
		for _, o := range g.parts {
			for _, place := range o.Places {
				if o.Result == histories.Fail && place.Token != (histories.Token{}) {
					failed[o.Info()] = append(failed[o.Info()], failedPlace{o, place.Token})
				}
			}
		}
	}
	return failed
}

// window takes in the grants and failures of a window. The oldest acquire that is still open
// was invoked at before.
func (p *failedPlaces) window(v *verdict.Verdict, t *facts.Trace, lock *facts.LockInfo, failed []failedPlace, before time.Duration) {
	known := len(p.recent)
	newest := func(n int) histories.Token { // of the first n
		if n == 0 {
			return p.newest
		}
		return p.recent[n-1].until
	}
	for _, h := range lock.Holds() {
		if !t.Begun(h) {
			continue
		}
		asked, _ := slices.BinarySearchFunc(p.recent, h.Call, func(g gotPlace, call time.Duration) int { return cmp.Compare(g.hold.Start, call) })
		g := gotPlace{h, newest(asked), newest(len(p.recent))}
		if g.until.Less(h.Token) {
			g.until = h.Token
		}
		p.recent = append(p.recent, g)
	}
	match := func(failed []failedPlace, granted []gotPlace) {
		if len(failed) == 0 || len(granted) == 0 {
			return
		}
		of := make(map[histories.Token][]failedPlace, len(failed))
		for _, f := range failed {
			of[f.token] = append(of[f.token], f)
		}
		for _, g := range granted {
			same := of[g.hold.Token]
			i := slices.IndexFunc(same, func(f failedPlace) bool { return f.op.Call <= g.hold.Start && !f.token.Less(g.before) })
			if i >= 0 {
				o := same[i].op
				v.Violate(func() verdict.Witness { return keptPart(t, o, g.hold) })
			}
		}
	}
	match(p.failed, p.recent[known:])
	match(failed, p.recent)
	p.failed = append(p.failed, failed...)
	past, _ := slices.BinarySearchFunc(p.recent, before, func(g gotPlace, before time.Duration) int { return cmp.Compare(g.hold.Start, before) })
	p.newest = newest(past)
	p.recent = slices.Delete(p.recent, 0, past)
	p.failed = slices.DeleteFunc(p.failed, func(f failedPlace) bool { return f.token.Less(p.newest) })
}
