package faults

import (
	"context"
	"fmt"
	"strconv"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// Administrator is implemented by a World that knows by which nodes its clients
// hold and wait for locks.
type Administrator interface {
	// Node names one by which a client holds a lock now, or has its place in a queue;
	// draw says which of several. It reports false when none is known.
	Node(client int, draw uint32) (Node, bool)
}

// Node is a node of a lock.
type Node struct {
	Lock    string // whose it is
	Token   int64  // the zxid that the lease or the place is known by; 0: the lock has no tokens
	Sub     int32  // of the token, of a lease whose node is known
	Session int64  // that it belongs to
	Permits int    // of a lease of permits: how many it has, each with a node of its own
	// Delete deletes it. An error says that it was gone already, or may be there still.
	Delete func(context.Context) error
}

// deleteWithin bounds it: it takes a few round trips while the ensemble serves.
const deleteWithin = expireWithin

// deleteKind deletes the node by which a client holds a lock, or waits for it, as an
// administrator does who clears up by hand. The session lives on. As with a forced
// expiry nobody can be warned; what a lock can still promise is that the loss is
// told soon, that a waiter takes another place, and that of several locks all the
// rest is given back.
func deleteKind() fault.Kind {
	return fault.Kind{
		Name:        histories.NodeDeletion,
		Description: "the node by which a client holds a lock, or waits for it, is deleted as by an administrator",
		Weight:      2,
		Span:        fault.Instant,
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			if fault.AtHolder.At(c) && !c.Lingers && s.Exact {
				return fault.Fault{}, fmt.Errorf("%w: what client %d holds is over in a moment", fault.ErrNobody, c.Index)
			}
			w, ok := s.World.(Administrator)
			if !ok {
				return fault.Fault{}, fmt.Errorf("%w: no node of a lock is known", fault.ErrNobody)
			}
			node, ok := w.Node(c.Index, s.Rand.Uint32())
			if !ok {
				return fault.Fault{}, fmt.Errorf("%w: client %d has no node that is known", fault.ErrNobody, c.Index)
			}
			params := map[string]string{"lock": node.Lock}
			if node.Token == 0 {
				params["session"] = fmt.Sprintf("0x%016x", uint64(node.Session))
			} else {
				params["token"] = strconv.FormatInt(node.Token, 10)
			}
			if node.Sub > 0 {
				params["sub"] = strconv.Itoa(int(node.Sub))
			}
			if node.Permits > 0 {
				params["permits"] = strconv.Itoa(node.Permits)
			}
			return fault.Fault{
				Name:       histories.NodeDeletion,
				Params:     params,
				HealWithin: deleteWithin, Start: node.Delete,
			}.OnClients(c), nil
		},
	}
}
