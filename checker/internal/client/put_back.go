package client

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// notPutBack finds lock nodes whose data a request to release has replaced, and that the holder,
// when told, did not put back within a quarter of TurnBound, by a log whose times are exact. Another
// request may come meanwhile. A node that is gone soon after need not have them: a lease that ends
// leaves its data as they are, and so does a process that crashes.
func (j *revocationJudge) notPutBack(t *facts.Trace) {
	bound := t.Header.Promises.TurnBound / 4
	for _, e := range j.putBack {
		n := t.Service.NodeOfToken(e.Lock, e.Token)
		by := t.Reconnected(e.Process, e.Time, 2*bound) + bound
		if bound == 0 || n == nil || by+bound > t.End || n.Deleted != nil && n.Deleted.Time <= by+bound || t.Process(e.Process).Retired <= by+bound || !t.WentOn(e.Time, by+bound) {
			continue
		}
		i := len(n.Writes) - 1
		for i >= 0 && n.Writes[i].Time > by {
			i--
		}
		if i < 0 || n.Writes[i].Same || n.Writes[i].Time > e.Time && (n.Writes[i].By != "" || j.mayBeRequest(e, n.Writes[i].Time)) {
			continue
		}
		j.v.Violate(func() verdict.Witness {
			w := judge.NewWitness(t, e.Lock, e.Time, by, judge.NoticeParty(e))
			w.What = fmt.Sprintf("%s was told at %s that another client asks it to release %q, and had not put the data of its node back at %s: the write of %s had other data",
				e.Name, verdict.At(e.Time), e.Lock, verdict.At(by), verdict.At(n.Writes[i].Time))
			return w
		})
	}
}

// toldTooOften finds holders that were told of more requests than there were, by a log whose times are
// exact. Each request is a write to the node's data: one that replaces them, or, to the leader of an
// election, one that writes them again. A listener is told of each once. The holder, which puts the data
// back, writes none.
func (j *revocationJudge) toldTooOften(t *facts.Trace) {
	told := map[facts.LeaseKey]int{}
	for _, e := range j.putBack {
		n, k := t.Service.NodeOfToken(e.Lock, e.Token), facts.LeaseKey{Lock: e.Lock, Token: e.Token}
		if n == nil {
			continue
		}
		requests := 0
		for _, w := range n.Writes {
			if w.Time <= e.Time && (!w.Same || w.By != "" || j.mayBeRequest(e, w.Time)) {
				requests++
			}
		}
		if told[k]++; told[k] != requests+1 {
			continue
		}
		j.v.Violate(func() verdict.Witness {
			w := judge.NewWitness(t, e.Lock, n.Created.Time, e.Time, judge.NoticeParty(e))
			w.What = fmt.Sprintf("%s was told %s by %s that another client asks it to release %q; by then the servers had carried out %s",
				e.Name, words.Times(requests+1), verdict.At(e.Time), e.Lock, words.Count(requests, "request"))
			return w
		})
	}
}

// mayBeRequest reports whether a write of the holder's own session may be another request: clients may
// share a session. A request that was not answered may be carried out later.
func (j *revocationJudge) mayBeRequest(e facts.ReleaseNotice, at time.Duration) bool {
	return slices.ContainsFunc(j.under[facts.LeaseKey{Lock: e.Lock, Token: e.Token}], func(s facts.Span) bool { return s.From <= at && at <= s.To })
}
