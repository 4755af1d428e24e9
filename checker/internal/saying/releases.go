package saying

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
)

// notLost finds releases that reported, before the deadline of the lease, that the lease was lost,
// although they gave it back themselves: by the servers' log their session deleted the lock's node
// while they were under way.
func (s *sayings) notLost() {
	if s.t.Service == nil || !s.t.Service.Exact() {
		return
	}
	for _, o := range s.refused {
		if o.Parts > 1 || !o.Recipe().Guards() || o.Hold.Token.Sub > 0 {
			continue // another of its nodes may be gone, or the node is another lease's too
		}
		n := s.t.Service.NodeOfToken(o.Lock, o.Hold.Token)
		if n == nil || n.Deleted == nil || n.Ended || n.By != "" || n.Session != o.Hold.Session || n.Deleted.Time < o.Call || n.Deleted.Time > o.Ret {
			continue
		}
		p := judge.OpParty(o)
		s.wrong(p, o.Lock, fmt.Sprintf("the release of %v of lock %q reported at %s that the lease was lost; its node was deleted at %s by that release, and the lease was good until later",
			p, o.Lock, verdict.At(o.Ret), verdict.At(n.Deleted.Time)))
	}
}
