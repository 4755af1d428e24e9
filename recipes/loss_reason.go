package recipes

import "github.com/zkverify/zkverify/recipes/internal/session"

// LossReason says why a lease was lost.
type LossReason string

// The reasons.
const (
	// LossSessionExpired: the servers have ended the session.
	LossSessionExpired LossReason = "session expired"
	// LossDeadlinePassed: no server has confirmed the session for so long that the
	// servers may have ended it, see [Lease.Deadline].
	LossDeadlinePassed LossReason = "deadline passed"
	// LossProcessPaused: the deadline has passed while the client's process did not run: it was
	// stopped, had no processor, or its machine slept. It did not run for half of the time, or
	// more, from a third of the session timeout after the latest confirmation, when the next
	// one was overdue, to the deadline.
	LossProcessPaused LossReason = "process did not run"
	// LossLinkSuspended: the link is down, and the client was connected with
	// [LoseOnSuspend].
	LossLinkSuspended LossReason = "link suspended"
	// LossNodeDeleted: somebody has deleted the lock node.
	LossNodeDeleted LossReason = "lock node deleted"
	// LossNotAuthenticated: the servers refuse what the client authenticates by.
	LossNotAuthenticated LossReason = "authentication failed"
	// LossClientClosed: [Client.Close] was called while the lease was held.
	LossClientClosed LossReason = "client closed"
)

// LossReasons returns all reasons.
func LossReasons() []LossReason {
	return []LossReason{
		LossSessionExpired, LossDeadlinePassed, LossProcessPaused, LossLinkSuspended, LossNodeDeleted, LossNotAuthenticated, LossClientClosed,
	}
}

// lossReasons are the reasons as the sessions tell of them.
var lossReasons = map[session.Loss]LossReason{
	session.Expired:          LossSessionExpired,
	session.DeadlinePassed:   LossDeadlinePassed,
	session.ProcessPaused:    LossProcessPaused,
	session.LinkSuspended:    LossLinkSuspended,
	session.NodeDeleted:      LossNodeDeleted,
	session.NotAuthenticated: LossNotAuthenticated,
	session.ClientClosed:     LossClientClosed,
}
