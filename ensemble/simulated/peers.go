package simulated

import (
	"fmt"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/model/cluster"
)

func (e *Ensemble) openPeers() {
	for _, from := range e.servers {
		for _, to := range e.servers {
			if from == to {
				continue
			}
			between := e.live.Cluster.Link(from.myid, to.myid)
			e.peers[[2]int{from.ID, to.ID}] = &link{
				name:   fmt.Sprintf("peer-%d-%d", from.ID, to.ID),
				change: func(c cluster.Condition) bool { return e.live.Do(func() { between.Set(c) }) },
			}
		}
	}
}

// Peer returns the link that carries the connections that server from opened to server
// to; none when an ID is unknown. Cutting two servers apart takes Peer(a, b) and Peer(b,
// a).
func (e *Ensemble) Peer(from, to int) []links.Link {
	if l := e.peers[[2]int{from, to}]; l != nil {
		return []links.Link{l}
	}
	return nil
}
