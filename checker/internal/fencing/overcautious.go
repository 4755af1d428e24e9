package fencing

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// overcautious finds uses of a fence that it refused although no newer token had come to it. A use is
// on record before the fence sees its token.
type overcautious struct {
	facts.Deaf
	t      *facts.Trace
	v      *verdict.Verdict
	newest map[*facts.LockInfo]histories.Token
}

func (j *overcautious) Invoked(o *facts.Op) {
	if o.Store == histories.StoreFenced && j.newest[o.Info()].Less(o.Token) {
		j.newest[o.Info()] = o.Token
	}
}

func (j *overcautious) Completed(o *facts.Op) {
	if o.Store != histories.StoreFenced || !o.Refused || o.Token == (histories.Token{}) || o.Token.Less(j.newest[o.Info()]) || j.leftOut(o) {
		return
	}
	j.v.Violate(func() verdict.Witness {
		p := judge.OpParty(o)
		w := judge.NewWitness(j.t, o.Lock, o.Call, o.Ret, p)
		w.What = fmt.Sprintf("the fence of %q refused a %s of %v with token %s at %s, and had seen no newer token", o.Lock, o.Kind, p, verdict.Token(o.Token), verdict.At(o.Ret))
		return w
	})
}

// leftOut reports whether the history is a part of which writes to o's counter were left out.
func (j *overcautious) leftOut(o *facts.Op) bool {
	part := j.t.Header.Shrunk
	return part != nil && slices.ContainsFunc(part.Written, func(w histories.Written) bool { return w.Lock == o.Lock && w.Store == o.Store })
}
