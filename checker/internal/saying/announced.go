package saying

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// announcements compares the owner that a leader announces, as observers see it, with the owner that
// campaigned, if the target says what its locks do, and with what other observers see: an announcement
// is made with the candidate, and no client changes it.
type announcements struct {
	by    map[facts.LeaseKey]announcement
	order []facts.LeaseKey
}

// announcement is the owner of a term, by its grant or by the first observation of it.
type announcement struct {
	owner string
	from  verdict.Party
	saw   bool // it is an observation
}

// compared is the number of terms that are kept for comparison.
const compared = 256

// completed takes in an operation that was answered, with the owner that its answer names, and
// reports an announcement that is not the term's.
func (a *announcements) completed(t *facts.Trace, o *facts.Op, owner string, violate func(func() verdict.Witness)) {
	saw := o.Kind == histories.Observe
	if !o.OK() || owner == "" || o.Token == (histories.Token{}) || !saw && !(o.Acquires() && t.Header.Promises.Says) {
		return
	}
	k, now := facts.LeaseKey{Lock: o.Lock, Token: o.Token}, announcement{owner, judge.OpParty(o), saw}
	known, ok := a.by[k]
	switch {
	case ok && known.owner != owner && (known.saw || saw):
		violate(func() verdict.Witness { return differ(t, o, known, now) })
	case !ok:
		if a.by == nil {
			a.by = map[facts.LeaseKey]announcement{}
		}
		a.by[k] = now
		if a.order = append(a.order, k); len(a.order) > compared {
			delete(a.by, a.order[0])
			a.order = a.order[1:]
		}
	}
}

func differ(t *facts.Trace, o *facts.Op, a, b announcement) verdict.Witness {
	w := judge.NewWitness(t, o.Lock, min(a.from.From, b.from.From), o.Ret, a.from, b.from)
	tell := func(x announcement) string {
		if x.saw {
			return fmt.Sprintf("%v saw that it announces %q", x.from, x.owner)
		}
		return fmt.Sprintf("%v campaigned for it as %q", x.from, x.owner)
	}
	w.What = fmt.Sprintf("two announcements of the leader of term %s of %q: %s, and %s at %s", verdict.Token(o.Token), o.Lock, tell(a), tell(b), verdict.At(o.Ret))
	return w
}
