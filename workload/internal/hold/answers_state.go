package hold

import (
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

// stateBy is how a lease with this deadline says that it stands; "" if it does not say, or
// its deadline has moved meanwhile: then it is not known which one it went by.
func stateBy(lease lock.Lease, deadline time.Time) string {
	state := stateOf(lease)
	if l, ok := lease.(lock.DeadlineLease); ok && !l.Deadline().Equal(deadline) {
		return ""
	}
	return state
}

// stateOf is how a lease says that it stands; "" if it does not say.
func stateOf(lease lock.Lease) string {
	if l, ok := lease.(lock.StateLease); ok {
		return l.State()
	}
	return ""
}

// askOver puts on record how a lease says that it stands which has been given back.
func (h answers) askOver(lease lock.Lease) {
	s, e := saying(h.Client), h.Event
	if s.State = stateOf(lease); s.State == "" || e.Parts != nil {
		return // those of several are not asked
	}
	e.Type, e.Saying = histories.Says, s
	h.Client.Record(e)
}
