package checker

import (
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// Life is a node of a lock together with the beliefs of clients that it carried.
type Life struct {
	*service.Node
	End     string   // how the node was deleted, as the rest of a sentence
	Process int      // the process that created it; -1 if that is not known
	Beliefs []Belief // in order; none if the history records no grant to the node
}

// Belief is the time in which a process believed that it held a lock.
type Belief struct {
	Process  int
	From, To time.Duration // To is that of the history's end if Open
	Open     bool
	How      string // "released", "lost" or "crashed"; empty if Open
}

// Lives returns the nodes of a lock in the order of the servers, each with the beliefs that the
// history of the run records for it.
func Lives(h *histories.History, l *service.Log, lock string) []Life {
	t := facts.Of(h)
	t.Service = facts.NewService(l)
	at := make(map[*service.Node]int)
	var lives []Life
	for i := range l.Nodes {
		if n := &l.Nodes[i]; n.Lock() == lock {
			at[n] = len(lives)
			lives = append(lives, Life{Node: n, Process: -1, End: judge.Deletion(t, n)})
		}
	}
	for _, o := range t.Ops {
		for _, p := range o.Places {
			if o.Lock == lock {
				if n := t.Service.NodeOfToken(lock, p.Token); n != nil {
					lives[at[n]].Process = o.Process
				}
			}
		}
	}
	for _, hold := range t.HoldsOf(lock) {
		n := t.Service.NodeOf(hold)
		if n == nil {
			continue
		}
		life := &lives[at[n]]
		if life.Process < 0 {
			life.Process = hold.Process
		}
		b := Belief{Process: hold.Process, From: hold.Start, To: hold.End, How: hold.Why.String()}
		if hold.End == facts.Forever {
			b.To, b.Open = t.End, true
		}
		life.Beliefs = append(life.Beliefs, b)
	}
	return lives
}
