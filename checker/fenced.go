package checker

import (
	"fmt"

	"github.com/zkverify/zkverify/checker/internal/explain"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Tell describes an event of a history with this header in plain words, as the story of an
// [Explanation] does.
func Tell(h *histories.Header, e *histories.Event) string { return explain.Tell(h, e) }

// Fenced describes the effect that fencing tokens would have had on a violation of the named
// guarantee.
func Fenced(guarantee string, w verdict.Witness) string {
	g, _ := guaranteeNamed(guarantee, guarantees)
	return g.fenced(w)
}

// fenced describes the effect that fencing tokens would have had on a violation.
func (g Guarantee) fenced(w verdict.Witness) string {
	if g.fencing != "" {
		return g.fencing
	}
	if len(w.Parties) < 2 {
		return noPart
	}
	a, b := w.Parties[0], w.Parties[1]
	none := histories.Token{}
	switch {
	case a.Token == none || b.Token == none:
		return "The lock gives no fencing tokens: nothing stands between the two and the data."
	case a.Token.Less(b.Token):
		return fmt.Sprintf("A store behind the fence takes %s from %v, and from then on refuses %s, that of %v: no update is lost.", verdict.Token(b.Token), b, verdict.Token(a.Token), a)
	case b.Token.Less(a.Token):
		return fmt.Sprintf("The one that came later, %v, has the older token: a store behind the fence refuses it as soon as it has seen that of %v.", b, a)
	}
	return "Both have the same token: a fence cannot tell them apart."
}
