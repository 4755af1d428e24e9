package report

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// tell describes an event in a sentence.
func tell(h *histories.Header, e *histories.Event) string {
	who := h.Name(e.Process)
	of := ""
	if keys := locksOf(e); len(keys) > 0 {
		of = " of " + strings.Join(keys, "+")
	}
	switch e.Type {
	case histories.Suspended:
		return who + " is told that its lease" + of + " is suspended: the link is down"
	case histories.Resumed:
		return who + " is told that its lease" + of + " is good again"
	case histories.Crash:
		return who + " dies without releasing"
	case histories.RevokeRequested:
		return who + " is asked to give back its lease" + of
	case histories.PhaseStart:
		return "phase " + e.Phase + " begins"
	case histories.CensusDone:
		return fmt.Sprintf("census: what is left: %s, %s, %s", words.Count(len(e.Census.Contenders), "contender node"), words.Count(e.Census.Watches, "watch"), words.Count(len(e.Census.Goroutines), "goroutine"))
	}
	return checker.Tell(h, e)
}
