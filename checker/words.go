package checker

import (
	"github.com/zkverify/zkverify/checker/internal/story"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Tell says an event in plain words, as the story of an [Explanation] does.
func Tell(e *histories.Event) string { return story.Tell(e) }

// Fenced says what a fencing token would have done about a violation of the named
// guarantee.
func Fenced(guarantee string, w verdict.Witness) string {
	g, _ := guaranteeNamed(guarantee, guarantees)
	return g.fenced(w)
}
