package explain

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// tellSaying describes the answer of a lock about itself.
func tellSaying(e *histories.Event, who, lock string) string {
	s := e.Saying
	var parts []string
	yes := func(is *bool, so, not string) {
		switch {
		case is == nil:
		case *is:
			parts = append(parts, so)
		default:
			parts = append(parts, not)
		}
	}
	switch s.Told {
	case "":
	case histories.ToldAcquiring:
		return fmt.Sprintf("an observer of %s is told that its acquire of %s contends", who, lock)
	case histories.ToldGaveUp:
		return fmt.Sprintf("an observer of %s is told that its acquire of %s ends without a lease: %s", who, lock, e.Error)
	case histories.ToldUnheard:
		return fmt.Sprintf("what an observer of %s is told of its acquire of %s is not on record: another call of its owner is under way", who, lock)
	case histories.ToldRevokeRequested:
		return fmt.Sprintf("an observer of %s is told that the release of its lease of %s with token %s was asked for", who, lock, verdict.Token(e.Token))
	default:
		return fmt.Sprintf("an observer of %s is told that its lease of %s with token %s was %s", who, lock, verdict.Token(e.Token), s.Told)
	}
	if s.Connection != "" {
		return fmt.Sprintf("a listener of %s is told that client %d of the target is %s", who, s.Client, s.Connection)
	}
	yes(s.Valid, "it is valid", "it is not valid")
	if s.Left != nil {
		parts = append(parts, "it is good until "+verdict.At(s.Asked+*s.Left))
	}
	if s.Least != nil {
		parts = append(parts, "all its parts until "+verdict.At(s.Asked+*s.Least))
	}
	if s.Depth != 0 {
		parts = append(parts, fmt.Sprintf("its depth is %d", s.Depth))
	}
	yes(s.Ended, "its context has ended", "its context goes on")
	if s.State != "" {
		parts = append(parts, "it is "+s.State)
	}
	if s.Created != 0 {
		parts = append(parts, fmt.Sprintf("its node was created in transaction %#x", s.Created))
	}
	yes(s.Held, "the client holds the lock", "the client does not hold the lock")
	if s.Queue != nil {
		var tokens []string
		for _, p := range s.Queue {
			tokens = append(tokens, verdict.Token(p.Token))
		}
		parts = append(parts, "in its queue stand: "+strings.Join(tokens, ", "))
	}
	return fmt.Sprintf("%s asks %s: %s", who, lock, strings.Join(parts, "; "))
}
