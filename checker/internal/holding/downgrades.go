package holding

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// fromNothing finds a writer that became a reader although its node had been deleted before it
// asked, by a log of the servers whose times are exact: another writer may have been let in since.
// The token of a reader that was a writer has the transaction of the writer's node, or of a node of
// its own.
func (j *readWriteJudge) fromNothing(t *facts.Trace, h *facts.Hold) {
	if t.Service == nil || !t.Service.Exact() {
		return
	}
	writer := h
	if h.Token.Sub == 0 {
		if writer = h.Acquire.Beside; writer == nil || writer.Mode != histories.ModeWrite || h.Mode != histories.ModeRead {
			return
		}
	}
	n := t.Service.NodeOf(writer)
	if n == nil || n.Deleted == nil || n.Deleted.Time >= h.Call {
		return
	}
	j.v.Violate(func() verdict.Witness {
		p := judge.HoldParty(h)
		w := judge.NewWitness(t, h.Lock, h.Call, h.Start, p)
		w.What = fmt.Sprintf("%v, a writer of lock %q, asked for it to read as well at %s and was granted it, although its node %#x was gone: it %s",
			p, h.Lock, verdict.At(h.Call), n.Created.Zxid, judge.Deletion(t, n))
		return w
	})
}
