package barrier

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/histories"
)

// crowd counts the members that may be at the barrier for a round, as time passes.
type crowd struct {
	r          *round
	leave      []leaving // members that may have been counted until their sessions ended
	came, gone int
	members    map[int]int // enters of a process that count
}

type leaving struct {
	process int
	at      time.Duration
}

func newCrowd(t *facts.Trace, r *round) *crowd {
	c := &crowd{r: r, members: map[int]int{}}
	for _, e := range r.enters {
		if at, ended := endedBefore(t, e); ended {
			c.leave = append(c.leave, leaving{e.Process, max(at, e.Call-1)}) // not before it entered
		}
	}
	slices.SortFunc(c.leave, func(a, b leaving) int { return cmp.Compare(a.at, b.at) })
	return c
}

// at returns the largest possible number of members at an instant, which is not before that of
// the last call.
func (c *crowd) at(when time.Duration) int {
	for ; c.came < len(c.r.enters) && c.r.enters[c.came].Call <= when; c.came++ {
		c.members[c.r.enters[c.came].Process]++
	}
	for ; c.gone < len(c.leave) && c.leave[c.gone].at < when; c.gone++ {
		p := c.leave[c.gone].process
		if c.members[p]--; c.members[p] == 0 {
			delete(c.members, p)
		}
	}
	return len(c.members)
}

// begins returns the first instant, not before from, at which size members are there, or
// forever.
func begins(t *facts.Trace, r *round, size int, from time.Duration) time.Duration {
	there := newCrowd(t, r)
	if there.at(from) >= size {
		return from
	}
	for _, e := range r.enters { // by invocation
		if e.Call > from && there.at(e.Call) >= size {
			return e.Call
		}
	}
	return facts.Forever
}

// endedBefore returns when the session of an enter that failed was seen to end, if it was.
func endedBefore(t *facts.Trace, e *facts.Op) (time.Duration, bool) {
	if e.Result != histories.Fail || e.Session == "" {
		return 0, false
	}
	at, ended := t.Sessions.Expired[e.Session]
	return at, ended
}

// gaveUp reports whether o, an enter of the same round as e, cannot have counted for the round
// that e entered, because it had failed by an earlier transaction.
func gaveUp(o, e *facts.Op) bool {
	none := histories.Token{}
	return o.Result == histories.Fail && o.Token != none && e.Token != none && o.Token.Zxid < e.Token.Zxid
}

// counted is the number of members that can have begun a round that was entered, when some
// cannot, and the time at which the first of those entered.
type counted struct {
	members int
	from    time.Duration
}

// short returns the enters that succeeded although fewer than size members can have begun the
// round, because others had given up before. Most members enter by one transaction, and are
// counted at once.
func (r *round) short(size int) map[*facts.Op]counted {
	none := histories.Token{}
	if !slices.ContainsFunc(r.enters, func(o *facts.Op) bool { return o.Result == histories.Fail && o.Token != none }) {
		return nil
	}
	var inside []*facts.Op
	for _, s := range r.inside {
		inside = append(inside, s.enter)
	}
	slices.SortFunc(inside, func(a, b *facts.Op) int {
		return cmp.Or(cmp.Compare(a.Token.Zxid, b.Token.Zxid), cmp.Compare(a.Ret, b.Ret))
	})
	few := map[*facts.Op]counted{}
	var members map[int]bool
	came, from := 0, facts.Forever
	for i, e := range inside {
		if i == 0 || inside[i-1].Token != e.Token {
			members, came, from = map[int]bool{}, 0, facts.Forever
		}
		for ; came < len(r.enters) && r.enters[came].Call <= e.Ret; came++ {
			if o := r.enters[came]; gaveUp(o, e) {
				from = min(from, o.Call)
			} else {
				members[o.Process] = true
			}
		}
		if from < facts.Forever && len(members) < size {
			few[e] = counted{len(members), from}
		}
	}
	return few
}

// goneBefore returns the enters that had given up before the round that e entered began.
func (r *round) goneBefore(e *facts.Op) (gone []*facts.Op) {
	for _, o := range r.enters {
		if o.Call <= e.Ret && gaveUp(o, e) {
			gone = append(gone, o)
		}
	}
	return gone
}
