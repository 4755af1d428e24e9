package holding

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/witness"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// fromNothing finds a writer that became a reader although its node had been deleted before it
// asked, by a log of the servers whose times are exact: another writer may have been let in since.
// The token of a reader that was a writer has the transaction of the writer's node.
func (j *readWriteJudge) fromNothing(t *facts.Trace, h *facts.Hold) {
	if t.Service == nil || !t.Service.Exact() {
		return
	}
	if h.Token.Sub == 0 {
		j.fromAnotherPlace(t, h)
		return
	}
	n := t.Service.NodeOf(h)
	if n == nil || n.Deleted == nil || n.Deleted.Time >= h.Call {
		return
	}
	j.v.Violate(func() verdict.Witness {
		p := witness.OfHold(h)
		w := witness.New(t, h.Lock, h.Call, h.Start, p)
		w.What = fmt.Sprintf("%v, a writer of lock %q, asked for it to read as well at %s and was granted it, although its node %#x was gone: it %s",
			p, h.Lock, verdict.At(h.Call), n.Created.Zxid, witness.Deletion(t, n))
		return w
	})
}

// fromAnotherPlace finds a writer that asked to read as well, and was granted that by a place of its
// own in the queue, which another writer may have been ahead of: the place of a reader that was a
// writer is the writer's.
func (j *readWriteJudge) fromAnotherPlace(t *facts.Trace, h *facts.Hold) {
	w := h.Acquire.Beside
	if w == nil || w.Mode != histories.ModeWrite || h.Mode != histories.ModeRead || h.Token == (histories.Token{}) || w.Token.Zxid == h.Token.Zxid {
		return
	}
	j.v.Violate(func() verdict.Witness {
		p := witness.OfHold(h)
		x := witness.New(t, h.Lock, h.Call, h.Start, p)
		x.What = fmt.Sprintf("%v, a writer of lock %q with token %s, asked for it to read as well at %s and was granted it by another place in the queue, %s",
			p, h.Lock, verdict.Token(w.Token), verdict.At(h.Call), verdict.Token(h.Token))
		return x
	})
}
