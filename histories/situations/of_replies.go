package situations

import (
	"github.com/zkverify/zkverify/histories"
)

// ofReplies are the situations of answers that do not reach their client.
func ofReplies() []kind {
	lossy := []string{"replies-lost", "down", "truncated-reply"}
	return []kind{
		{Situation{Name: "create-reply-lost", Says: "the reply to the create of a node in a queue is lost", Faults: lossy, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Create && c.lost() && lockOf(c.Path) != ""
		})},
		{Situation{Name: "lost-create-found", Says: "the reply to a create is lost, and its node is found and becomes the place of the acquire", Recipes: locks, Faults: lossy, AtMessages: true, Traced: true}, lostCreateFound},
		{Situation{Name: "joint-create-reply-lost", Says: "the reply to the transaction that creates the nodes of several locks is lost", Recipes: only(histories.MultiLock), Faults: lossy, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Multi && c.Creates > 1 && c.lost()
		})},
		{Situation{Name: "delete-reply-lost", Says: "the reply to the delete of a node is lost", Faults: lossy, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Delete && c.lost() && lockOf(c.Path) != ""
		})},
		{Situation{Name: "delete-lost", Says: "the request to delete a node is lost", Faults: []string{"requests-lost", "black-hole", "down"}, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Delete && !c.Arrived && c.Committed == 0 && c.Returned && lockOf(c.Path) != ""
		})},
		{Situation{Name: "guarded-write-reply-lost", Says: "the reply to a guarded write is lost", Recipes: guarding, Faults: lossy, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.guarded() && c.Committed != 0 && !c.Received // its client crashes for it
		})},
		{Situation{Name: "size-reply-lost", Says: "the reply to a change of a semaphore's size is lost", Recipes: only(histories.SharedSemaphore), Faults: lossy, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Set && isSize(c.Path) && c.lost()
		})},
		{Situation{Name: "sync-reply-lost", Says: "the reply to a sync of a heartbeat is lost", Faults: lossy, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Sync && c.Answered && !c.Received && c.Returned
		})},
		{Situation{Name: "notification-lost", Says: "the notification of a watch is lost", Faults: []string{"replies-lost", "black-hole", "down"}, AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Notify && !c.Received && c.Returned && lockOf(c.Path) != ""
		})},
	}
}

// guarded reports whether a request is a guarded write.
func (c *Call) guarded() bool { return c.Op == Multi && c.Checks > 0 && c.Sets > 0 }

func lostCreateFound() detector {
	lost := map[int64]bool{} // by transaction
	return detector{
		call: func(_ *view, c *Call) bool {
			if (c.Op == Create || c.Creates > 0) && c.lost() {
				lost[c.Committed] = true
			}
			return false
		},
		event: func(_ *view, e *histories.Event) bool {
			if len(lost) == 0 || e.Type != histories.Enqueued && !acquired(e) {
				return false
			}
			for _, l := range locksOf(e) {
				if lost[l.Token.Zxid] {
					delete(lost, l.Token.Zxid)
					return true
				}
			}
			return false
		},
	}
}
