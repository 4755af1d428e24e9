package saying

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// linkBound bounds how late a client may be told that the link of a lease is down or back,
// while its process runs: that notification comes after the others.
const linkBound = time.Second

// states judges the reported states of leases and clients of the target.
type states struct {
	of          *sayings
	odd         []odd
	connections map[int]string // by client of the target, as reported to listeners
}

// odd is a lease that reported a state of its link that its client was not told of: the client
// will be told, or the lease ends, or the answer is wrong.
type odd struct {
	hold    *facts.Hold
	outages int // as recorded
	down    bool
	said    verdict.Party
	lock    string
	at      time.Duration
}

// about judges the reported state of a lease. h is its hold, nil if none is on record.
func (st *states) about(i int, e *histories.Event, h *facts.Hold) {
	said := e.Saying
	if said.State == "" || h == nil {
		return
	}
	p, lock := st.of.party(i, e, h), facts.LocksOf(e)[0]
	state := func(why string) {
		st.of.wrong(p, lock, fmt.Sprintf("the lease of %v on lock %q said at %s that it was %s%s", p, lock, verdict.At(e.Time), said.State, why))
	}
	outages, down, since := h.Outages()
	switch open := h.EndEvent < 0; {
	case open && said.State == histories.StateReleased:
		state(", and it had not been released")
	case open && said.State == histories.StateLost && said.Left != nil && said.Asked+*said.Left > e.Time:
		state(", before its deadline, and the lease went on")
	case open && said.State != histories.StateLost && said.Left != nil && *said.Left <= 0:
		state(", after its own deadline")
	case open && said.State != histories.StateLost && said.Valid != nil && !*said.Valid:
		state(", and before that that it was not valid")
	case open && (said.State == histories.StateHeld) == down && outages > 0 && since < said.Asked: // else it may have answered before
		st.odd = append(st.odd, odd{h, outages, down, p, lock, e.Time})
	case h.Why == facts.ByRelease && h.Released != facts.Forever && h.Released <= said.Asked && said.State != histories.StateReleased:
		state(", and it had been given back")
	case h.Why == facts.ByLoss && h.End <= said.Asked && said.State != histories.StateLost:
		state(", and its loss had been told")
	}
}

// settle judges the reported states of links once their time has come.
func (st *states) settle(now time.Duration) {
	st.odd = slices.DeleteFunc(st.odd, func(o odd) bool {
		outages, down, _ := o.hold.Outages()
		if o.hold.EndEvent >= 0 || outages != o.outages || down != o.down {
			return true
		}
		if ranFor(st.of.t, o.hold.Process, o.at, now) <= linkBound {
			return false
		}
		says, is := "was down", "back"
		if o.down {
			says, is = "was not down", "down"
		}
		st.of.wrong(o.said, o.lock, fmt.Sprintf("the lease of %v on lock %q said at %s that its link %s, of which its client was told last that it was %s",
			o.said, o.lock, verdict.At(o.at), says, is))
		return true
	})
}

// next lists the states that may follow each state of a connection.
var next = map[string][]string{
	"":                              {histories.ConnectionConnected},
	histories.ConnectionConnected:   {histories.ConnectionSuspended, histories.ConnectionLost, histories.ConnectionClosed},
	histories.ConnectionReconnected: {histories.ConnectionSuspended, histories.ConnectionLost, histories.ConnectionClosed},
	histories.ConnectionSuspended:   {histories.ConnectionReconnected, histories.ConnectionLost, histories.ConnectionClosed},
	histories.ConnectionLost:        {histories.ConnectionReconnected, histories.ConnectionClosed},
}

// told judges a report to a listener on the connection of a client of the target to the
// servers.
func (st *states) told(i int, e *histories.Event) {
	st.of.answers++
	was, is := st.connections[e.Saying.Client], e.Saying.Connection
	st.connections[e.Saying.Client] = is
	if is == histories.ConnectionLost {
		st.of.lostLink(i, e)
	}
	if slices.Contains(next[was], is) {
		return
	}
	if was == "" {
		was = "nothing"
	}
	st.of.wrong(st.of.party(i, e, nil), "", fmt.Sprintf("a listener of client %d of the target was told %q at %s, after %s", e.Saying.Client, is, verdict.At(e.Time), was))
}
