package recipes

// LossReason says why a lease was lost.
type LossReason string

// The reasons.
const (
	// LossSessionExpired: the servers have ended the session.
	LossSessionExpired LossReason = "session expired"
	// LossDeadlinePassed: no server has confirmed the session for so long that the
	// servers may have ended it, see [Lease.Deadline].
	LossDeadlinePassed LossReason = "deadline passed"
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
		LossSessionExpired, LossDeadlinePassed, LossLinkSuspended, LossNodeDeleted, LossNotAuthenticated, LossClientClosed,
	}
}

// LossReason returns why the lease was lost, and "" while it is not.
func (l *Lease) LossReason() LossReason {
	l.hold.mu.Lock()
	defer l.hold.mu.Unlock()
	return l.hold.why
}
