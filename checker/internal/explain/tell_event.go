package explain

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Tell describes an event of a history with this header in words.
func Tell(h *histories.Header, e *histories.Event) string {
	who := h.Name(e.Process)
	lock := strings.Join(facts.LocksOf(e), "+")
	with := ""
	if e.Mode != "" {
		with = " to " + string(e.Mode)
	}
	if e.Token != (histories.Token{}) {
		with += " with token " + verdict.Token(e.Token)
	}
	if e.Permits > 0 {
		with += ", " + words.Count(e.Permits, "permit")
	}
	op := string(e.Op)
	if e.Mode != "" {
		op += " (" + string(e.Mode) + ")"
	}
	switch e.Type {
	case histories.Invoke:
		return fmt.Sprintf("%s calls %s of %s", who, op, lock)
	case histories.OK:
		switch e.Op {
		case histories.Acquire, histories.TryAcquire:
			return fmt.Sprintf("%s has %s%s", who, lock, with)
		case histories.Release:
			return fmt.Sprintf("%s has given %s back", who, lock)
		case histories.Read, histories.Write:
			return fmt.Sprintf("%s %ss %d, %s store of %s", who, e.Op, e.Value, e.Store, lock)
		case histories.Observe:
			if e.Token == (histories.Token{}) {
				return fmt.Sprintf("%s sees no leader of %s", who, lock)
			}
			return fmt.Sprintf("%s sees who leads %s%s", who, lock, with)
		case histories.SetSize:
			return fmt.Sprintf("%s has made the size of %s %d", who, lock, e.Size)
		}
		return fmt.Sprintf("%s: %s of %s is done", who, op, lock)
	case histories.Fail:
		return fmt.Sprintf("%s: %s of %s fails%s", who, op, lock, verdict.Because(e.Error))
	case histories.Info:
		return fmt.Sprintf("%s: it is not known what came of %s of %s%s", who, op, lock, verdict.Because(e.Error))
	case histories.Enqueued:
		return fmt.Sprintf("%s queues for %s%s", who, lock, with)
	case histories.Lost:
		return fmt.Sprintf("%s is told that it has lost %s", who, lock)
	case histories.Closing:
		return fmt.Sprintf("%s closes its client, and gives back all that it holds", who)
	case histories.Closed:
		return fmt.Sprintf("%s has closed its client", who)
	case histories.Says:
		return tellSaying(e, who, lock)
	case histories.Expired:
		return fmt.Sprintf("the servers have ended session %s", e.Session)
	case histories.ServerSeen:
		text := fmt.Sprintf("server %d is found %s", e.Server.ID, serverStates[e.Server.State])
		if e.Server.Version != "" {
			text += ", as ZooKeeper " + e.Server.Version
		}
		return text
	case histories.Stalled:
		return fmt.Sprintf("the process that records stood still for %s", verdict.Ms(e.Time-e.Since))
	case histories.FaultStart:
		return "fault " + e.Fault.Title() + verdict.On(e.Fault.Targets) + " begins"
	case histories.FaultStop:
		return "fault " + e.Fault.Title() + verdict.On(e.Fault.Targets) + " ends"
	}
	return fmt.Sprintf("%s: %s of %s", who, e.Type, lock)
}

// serverStates describes the states of servers.
var serverStates = map[histories.ServerState]string{
	histories.Leading: "leading", histories.Following: "following", histories.Observing: "observing", histories.Alone: "serving alone",
	histories.Electing: "electing, serving no client", histories.Silent: "not answering", histories.Down: "down",
}
