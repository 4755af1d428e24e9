package checker

import (
	"fmt"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// SessionEnd is the end of a party's session: what the lock rests on went with it.
type SessionEnd struct {
	Process int           `json:"process"`
	Session string        `json:"session"`
	At      time.Duration `json:"at"`               // when it was seen; of a forced one, by when the fault had ended it
	Forced  bool          `json:"forced,omitempty"` // a fault ended it from the side
}

// lateSight is how long after a violation the end of a session may be seen that
// explains it: the observer sees it when it looks the next time.
const lateSight = 500 * time.Millisecond

// String tells of the end as part of a sentence.
func (e SessionEnd) String() string {
	if e.Forced {
		return fmt.Sprintf("the session of process %d had been ended from the side by %s", e.Process, at(e.At))
	}
	return fmt.Sprintf("the session of process %d was seen to end at %s", e.Process, at(e.At))
}

// sessionEnds returns the ends of the parties' sessions that explain what was so until
// the given time, in the order of the parties.
func (t *trace) sessionEnds(until time.Duration, parties []Party) []SessionEnd {
	var ends []SessionEnd
	for _, p := range parties {
		if p.Session == "" || slices.ContainsFunc(ends, func(e SessionEnd) bool { return e.Process == p.Process && e.Session == p.Session }) {
			continue
		}
		if f := t.endedFromTheSide(p.Session, until); f != nil && f.stop <= until+lateSight {
			ends = append(ends, SessionEnd{p.Process, p.Session, f.stop, true})
		} else if seen, ended := t.expired[p.Session]; ended && seen <= until+lateSight {
			ends = append(ends, SessionEnd{p.Process, p.Session, seen, false})
		}
	}
	return ends
}

// endedFromTheSide returns the first fault that has ended a session and began before
// a given time, or nil. It goes by the session: a client that is retired as one process
// goes on in it as another.
func (t *trace) endedFromTheSide(session string, before time.Duration) *faultSpan {
	for _, f := range t.forced {
		if f.start <= before && f.Name == histories.ForcedExpiry && !f.failed && session != "" && f.Params["session"] == session {
			return f
		}
	}
	return nil
}

// ending returns the end of the first of the parties' sessions that has one, as the
// rest of a sentence; "" if none has.
func (w *Witness) ending() string {
	if len(w.SessionEnds) == 0 {
		return ""
	}
	return "; " + w.SessionEnds[0].String()
}
