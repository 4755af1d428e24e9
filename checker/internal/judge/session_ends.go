package judge

import (
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
)

// LateSight is how long after a violation the end of a session that explains it may be seen:
// the observer sees the end when it looks the next time.
const LateSight = 500 * time.Millisecond

// sessionEnds returns the ends of the parties' sessions that explain a violation that lasted
// until a time, in the order of the parties.
func sessionEnds(t *facts.Trace, until time.Duration, parties []verdict.Party) []verdict.SessionEnd {
	type of struct {
		process int
		session string
	}
	var ends []verdict.SessionEnd
	seen := make(map[of]bool, len(parties))
	for _, p := range parties {
		if p.Session == "" || seen[of{p.Process, p.Session}] {
			continue
		}
		seen[of{p.Process, p.Session}] = true
		if f := t.Faults.EndedSession(p.Session, until); f != nil && f.Stop <= until+LateSight {
			ends = append(ends, verdict.SessionEnd{Process: p.Process, Name: p.Name, Session: p.Session, At: f.Stop, Forced: true})
		} else if seen, ended := t.Sessions.Expired[p.Session]; ended && seen <= until+LateSight {
			ends = append(ends, verdict.SessionEnd{Process: p.Process, Name: p.Name, Session: p.Session, At: seen, Forced: false})
		}
	}
	return ends
}

// CauseOf returns the cause of an overlap of two holds that lasted until a time; "" if the record
// does not tell it.
func CauseOf(t *facts.Trace, until time.Duration, a, b *facts.Hold) string {
	w := verdict.Witness{SessionEnds: sessionEnds(t, min(until, t.End), []verdict.Party{HoldParty(a), HoldParty(b)})}
	if t.Service != nil {
		switch turn, _, _ := t.Service.Between(a, b); turn {
		case facts.TooEarly:
			w.Order = verdict.GrantedEarly
		case facts.InTurn:
			w.Order = verdict.InTurn
		}
	}
	return w.Cause()
}
