package simulation

import (
	"cmp"
	"sync"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// queue is the order of the clients that wait for the lock of a run, or hold it, as their events tell it.
type queue struct {
	mu     sync.Mutex
	places map[int]place // by client
	unseen map[int]bool  // clients that were in a call before the first event
}

// place is the place of a client: places are ordered by Token, or by Sequence if Token is zero.
type place struct {
	token    histories.Token
	sequence int
}

func (p place) before(o place) bool {
	return cmp.Or(p.token.Compare(o.token), cmp.Compare(p.sequence, o.sequence)) < 0
}

// begin forgets all, and takes the states of the clients for the beginning.
func (q *queue) begin(all []fault.Client) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.places, q.unseen = map[int]place{}, map[int]bool{}
	for _, c := range all {
		if len(c.States) > 0 {
			q.unseen[c.Index] = true
		}
	}
}

// note takes an event of a client.
func (q *queue) note(client int, e *histories.Event) {
	q.mu.Lock()
	defer q.mu.Unlock()
	acquires := e.Op == histories.Acquire || e.Op == histories.TryAcquire
	switch {
	case e.Type == histories.Enqueued, e.Type == histories.OK && acquires:
		q.places[client] = place{e.Token, int(e.Sequence)}
	case e.Type == histories.Lost, e.Type == histories.Crash, (acquires || e.Op == histories.Release) && e.Type != histories.Invoke:
		delete(q.places, client)
	case e.Type != histories.Invoke:
		return
	}
	delete(q.unseen, client)
}

// around returns the numbers of clients that are ahead of a client and behind it, and whether the
// states of all others are known. All are ahead of a client that has no place.
func (q *queue) around(client int) (ahead, behind int, known bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	own, placed := q.places[client]
	for other, p := range q.places {
		switch {
		case other == client:
		case !placed || p.before(own):
			ahead++
		default:
			behind++
		}
	}
	return ahead, behind, len(q.unseen) == 0 || len(q.unseen) == 1 && q.unseen[client]
}
