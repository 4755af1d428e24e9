package hold

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// stateBy returns the state that a lease with this deadline reports; "" if it reports none, or
// if its deadline has moved meanwhile: then it is not known which deadline the state is based
// on.
func stateBy(lease lock.Lease, deadline time.Time) string {
	state := stateOf(lease)
	if l, ok := lease.(lock.DeadlineLease); ok && !l.Deadline().Equal(deadline) {
		return ""
	}
	return state
}

// stateOf returns the state that a lease reports; "" if it reports none.
func stateOf(lease lock.Lease) string {
	if l, ok := lease.(lock.StateLease); ok {
		return l.State()
	}
	return ""
}

// askOver records the state that a released lease reports.
func (h answers) askOver(lease lock.Lease) {
	s, e := saying(h.Client), h.Event
	if s.State = stateOf(lease); s.State == "" || e.Parts != nil {
		return // leases of several locks are not asked
	}
	e.Type, e.Saying = histories.Says, s
	h.Client.Record(e)
}
