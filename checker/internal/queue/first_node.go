package queue

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// maxEarlyGrants bounds the violations that are reported.
const maxEarlyGrants = 100_000

// firstNodeJudge judges that a lock is granted only to the first node on the servers.
//
// The record shows when the acquire returned, and when the leader was asked to delete each
// earlier node, which it had not deleted before. If that was after the return, the earlier node
// existed when the lock was granted. The lock then had two owners in the servers' order, even
// if the owner of the first node had crashed, or had not been told yet that it had the lock, so
// that no two beliefs overlap.
//
// Nodes of the same session do not count: a client may hand a lock on from one to the other
// before the servers have deleted the first. Grants to read do not count either: they wait only
// for writers.
type firstNodeJudge struct {
	v                      *verdict.Verdict
	grants, unknown, clock int
}

// NewFirstNode returns the judge of grants against the order of nodes on the servers.
func NewFirstNode(t *facts.Trace, v *verdict.Verdict) judge.Judge {
	v.Promised = t.Header.Promises.FirstNode
	return &firstNodeJudge{v: v}
}

func (j *firstNodeJudge) Window(_ *judge.Engines, t *facts.Trace) int {
	for _, h := range facts.Each(t, t.Holds) {
		if !t.Begun(h) || !alone(h) || j.v.Violations >= maxEarlyGrants {
			continue
		}
		before, known := t.Service.Before(h)
		switch {
		case !known:
			j.unknown++
			continue
		case t.Service.ClockFails(h):
			j.clock++
			continue
		}
		j.grants++
		if before == nil {
			continue
		}
		own, p := t.Service.NodeOf(h), judge.HoldParty(h)
		p.To, p.Open = p.From, false // its part is the grant
		j.v.Violate(func() verdict.Witness {
			w := judge.NewWitness(t, h.Lock, h.Start, h.Start, p)
			w.What = fmt.Sprintf("%v was granted lock %q at %s, when node %#x of session %s was before its own, %#x, on the servers; that node %s",
				p, h.Lock, verdict.At(h.Start), before.Created.Zxid, before.Session, own.Created.Zxid, judge.Deletion(t, before))
			return w
		})
	}
	return 0
}

// alone reports whether no other process may hold the lock beside h.
func alone(h *facts.Hold) bool {
	return h.Recipe().Exclusive() || h.Recipe() == histories.ReadWrite && h.Mode != histories.ModeRead
}

func (j *firstNodeJudge) Conclude(_ *judge.Engines, t *facts.Trace) {
	v := j.v
	v.Count("grants compared with the servers' order", j.grants)
	v.Count("grants whose node is in no server's log", j.unknown)
	switch {
	case j.clock > 0:
		*v = *v.Fresh()
		v.Promised = t.Header.Promises.FirstNode
		v.Idle(fmt.Sprintf("the wall clock was set during the run: as the servers say, the nodes of %s were created after that", words.Count(j.clock, "grant")))
	case j.grants == 0:
		v.Idle("no grant can be compared with the servers' order")
	default:
		v.Conclude(words.Count(j.grants, "grant")+", each to the first node on the servers",
			fmt.Sprintf("%d of %s to a node that was not the first on the servers", v.Violations, words.Count(j.grants, "grant")))
	}
}
