package judge

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories/service"
)

// AddOrder adds to the witness of two holds their order by the servers' logs.
func AddOrder(t *facts.Trace, w *verdict.Witness, a, b *facts.Hold) {
	if t.Service == nil {
		return
	}
	turn, earlier, later := t.Service.Between(a, b)
	switch turn {
	case facts.TooEarly:
		w.Order = verdict.GrantedEarly
		w.What += fmt.Sprintf("; on the servers %v was granted the lock while the node of %v was before its own (%#x, %#x), which %s",
			HoldParty(later), HoldParty(earlier), t.Service.NodeOf(earlier).Created.Zxid, t.Service.NodeOf(later).Created.Zxid, Deletion(t, t.Service.NodeOf(earlier)))
	case facts.InTurn:
		w.Order = verdict.InTurn
		w.What += fmt.Sprintf("; on the servers one came after the other: the node of %v %s, before %v was granted the lock at %s",
			HoldParty(earlier), Deletion(t, t.Service.NodeOf(earlier)), HoldParty(later), verdict.At(later.Start))
	}
}

// Deletion describes how a node was deleted, as the rest of a sentence.
func Deletion(t *facts.Trace, n *service.Node) string {
	if n.Deleted == nil {
		return "was never deleted"
	}
	by := "by its own session"
	switch end := t.Service.SessionEnd(n.Session); {
	case n.Ended && end != nil && end.Expired:
		by = "with its session, which the servers had expired"
	case n.Ended:
		by = "with its session, which was closed"
	case n.By != "":
		by = "by session " + n.By
	}
	return fmt.Sprintf("was deleted at %s by %#x, %s", verdict.At(n.Deleted.Time), n.Deleted.Zxid, by)
}
