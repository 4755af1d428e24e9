package holding

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
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

// blindly finds a reader's node that was created right behind its writer's when that was gone, by such a log.
// The reader's node gets the number of the writer's, in a transaction that checks the writer's node, also if
// it is made again after a lost reply. All other nodes have numbers of their own, until their parent is made
// anew.
func (j *readWriteJudge) blindly(t *facts.Trace, lock string) {
	if t.Service == nil || !t.Service.Exact() || !t.Header.Promises.FirstNode {
		return
	}
	type place struct{ session, number string }
	first := map[place]*service.Node{}
	for _, n := range t.Service.NodesOf(lock) {
		at := place{n.Session, n.Name()[max(0, len(n.Name())-digits):]}
		anew := func(parent service.Node) bool {
			return parent.Lock() == lock && parent.Created.Zxid < n.Created.Zxid && parent.Created.Zxid > first[at].Created.Zxid
		}
		writer := first[at]
		if writer == nil || slices.ContainsFunc(t.Service.Parents(), anew) {
			first[at] = n
			continue
		}
		if writer.Deleted != nil && writer.Deleted.Zxid < n.Created.Zxid {
			j.v.Violate(func() verdict.Witness {
				w := judge.NewWitness(t, lock, writer.Deleted.Time, n.Created.Time)
				w.What = fmt.Sprintf("session %s, a writer of lock %q, created a node %#x to read right behind its node %#x, which was gone: it %s",
					n.Session, lock, n.Created.Zxid, writer.Created.Zxid, judge.Deletion(t, writer))
				return w
			})
		}
	}
}

// digits is the number of digits of a sequence number.
const digits = 10
