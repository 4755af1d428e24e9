package checker

import (
	"slices"
	"time"
)

// lateSight is how long after a violation the end of a session may be seen that
// explains it: the observer sees it when it looks the next time.
const lateSight = 500 * time.Millisecond

// sessionEnds returns the ends of the parties' sessions that explain what was so until
// the given time, in the order of the parties.
func (t *trace) sessionEnds(until time.Duration, parties []Party) []SessionEnd {
	var ends []SessionEnd
	for _, p := range parties {
		if p.Session == "" || slices.ContainsFunc(ends, func(e SessionEnd) bool { return e.Process == p.Process && e.Session == p.Session }) {
			continue
		}
		if f := t.faults.endedSession(p.Session, until); f != nil && f.stop <= until+lateSight {
			ends = append(ends, SessionEnd{p.Process, p.Session, f.stop, true})
		} else if seen, ended := t.sessions.expired[p.Session]; ended && seen <= until+lateSight {
			ends = append(ends, SessionEnd{p.Process, p.Session, seen, false})
		}
	}
	return ends
}
