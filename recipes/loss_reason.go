package recipes

import "github.com/zkverify/zkverify/recipes/internal/session"

// LossReason is the reason why a lease was lost. [Lease.Err] wraps it: errors.As finds it, and
// errors.Is compares it.
type LossReason string

// Error returns the reason as text.
func (r LossReason) Error() string { return string(r) }

// The reasons of a loss.
const (
	// LossSessionExpired: the servers have ended the session.
	LossSessionExpired LossReason = "session expired"
	// LossDeadlinePassed: no server has confirmed the session for so long that the
	// servers may have ended it, see [Lease.Deadline].
	LossDeadlinePassed LossReason = "deadline passed"
	// LossProcessPaused: the deadline has passed while the client's process did not run: it was
	// stopped, had no processor, or its machine slept. It did not run for at least half of the
	// time between two instants: a third of the session timeout after the latest confirmation,
	// when the next confirmation was overdue, and the deadline.
	LossProcessPaused LossReason = "process did not run"
	// LossLinkSuspended: the link is down, and the client was connected with
	// [LoseOnSuspend].
	LossLinkSuspended LossReason = "link suspended"
	// LossNodeDeleted: another client has deleted the lock node.
	LossNodeDeleted LossReason = "lock node deleted"
	// LossNotAuthenticated: the servers refuse the client's credentials.
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

// lossReasons maps the losses that the sessions report to the public reasons.
var lossReasons = map[session.Loss]LossReason{
	session.Expired:          LossSessionExpired,
	session.DeadlinePassed:   LossDeadlinePassed,
	session.ProcessPaused:    LossProcessPaused,
	session.LinkSuspended:    LossLinkSuspended,
	session.NodeDeleted:      LossNodeDeleted,
	session.NotAuthenticated: LossNotAuthenticated,
	session.ClientClosed:     LossClientClosed,
}
