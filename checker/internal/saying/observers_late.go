package saying

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// awaited is an observation, with the leader that its client knew before.
type awaited struct {
	*facts.Op
	knew  int64 // the transaction of the leader's node, 0 if there was no leader
	first bool  // it knew nothing
}

// await keeps an observation for late, if the servers' log is known and its times are exact.
func (j *observersJudge) await(o *facts.Op, last seenLeader) {
	if s := j.t.Service; s == nil || !s.Exact() || j.t.Header.Promises.TurnBound == 0 {
		return
	}
	a := awaited{Op: o, first: last.Op == nil && !last.vacant}
	if last.Op != nil && !last.vacant {
		a.knew = last.Token.Zxid
	}
	j.news = append(j.news, a)
}

// term is the time in which a node was the first of its queue on the servers, or in which there was
// none.
type term struct {
	facts.Span
	zxid int64 // 0: there was none
}

// termsOf returns the terms of a lock, in order: its first node leads until it is gone.
func termsOf(s *facts.Service, lock string) (all []term) {
	var free time.Duration // since when all earlier nodes are gone
	for _, n := range s.NodesOf(lock) {
		gone := facts.Forever
		if n.Deleted != nil {
			gone = n.Deleted.Time
		}
		if n.Created.Time > free {
			all = append(all, term{facts.Span{From: free, To: n.Created.Time}, 0})
		}
		if from := max(free, n.Created.Time); from < gone {
			all = append(all, term{facts.Span{From: from, To: gone}, n.Created.Zxid})
		}
		free = max(free, gone)
	}
	return append(all, term{facts.Span{From: free, To: facts.Forever}, 0})
}

// late finds observations during which another leader than the one that the client knew led, or
// none did, for longer than the bound of a wake-up, in which no fault hit the client or a server, nor in
// the two session timeouts before.
func (j *observersJudge) late() {
	terms := map[string][]term{}
	for _, a := range j.news {
		if terms[a.Lock] == nil {
			terms[a.Lock] = termsOf(j.t.Service, a.Lock)
		}
		for _, of := range terms[a.Lock] {
			missed := facts.Span{From: max(of.From, a.Call), To: min(of.To, a.Ret, j.t.End)}
			if of.zxid == a.knew && !a.first || missed.Length() <= j.t.Header.Promises.TurnBound || a.Result == histories.Info || !j.t.CalmIn(missed.From, missed.To, j.t.Header.Promises.TurnBound+1, a.Process) {
				continue
			}
			j.v.Violate(func() verdict.Witness {
				p := judge.OpParty(a.Op)
				w := judge.NewWitness(j.t, a.Lock, missed.From, missed.To, p)
				led := fmt.Sprintf("node %#x led", of.zxid)
				if of.zxid == 0 {
					led = "there was no leader"
				}
				w.What = fmt.Sprintf("%v observed %q from %s on, where %s from %s to %s, and was not told within %s", p, a.Lock, verdict.At(a.Call), led,
					verdict.At(missed.From), verdict.At(missed.To), verdict.Ms(j.t.Header.Promises.TurnBound))
				return w
			})
			break
		}
	}
}
