package fencing

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// unguarded finds guarded writes that succeeded although a node of the lease, or of one of the
// leases of several locks, had been deleted before the write was called, by a log of the servers
// whose times are exact: the transaction cannot have checked that node. No other client need have
// written meanwhile.
type unguarded struct {
	facts.Deaf
	t     *facts.Trace
	v     *verdict.Verdict
	under map[*facts.Op][]*facts.Hold // the holds of each write under way
}

func (j *unguarded) Invoked(o *facts.Op) {
	if o.Kind != histories.Write || o.Store != histories.StoreGuarded || o.Hold == nil {
		return
	}
	for h := range o.By.Holds.All() {
		if h.Acquire.Invoke == o.Hold.Acquire.Invoke {
			j.under[o] = append(j.under[o], h)
		}
	}
}

func (j *unguarded) Completed(o *facts.Op) {
	holds := j.under[o]
	delete(j.under, o)
	if !o.OK() {
		return
	}
	for _, h := range holds {
		n := j.t.Service.GoneBefore(h, o.Call)
		if n == nil {
			continue
		}
		j.v.Violate(func() verdict.Witness {
			p := judge.OpParty(o)
			w := judge.NewWitness(j.t, o.Lock, o.Call, o.Ret, p)
			w.What = fmt.Sprintf("%v called a write to the guarded counter of %q at %s, and it was carried out although the node %#x of its lease of %q was gone: it %s",
				p, o.Lock, verdict.At(o.Call), n.Created.Zxid, h.Lock, judge.Deletion(j.t, n))
			return w
		})
		return
	}
}
