package checker

import "github.com/zkverify/zkverify/histories"

// Tell says an event in plain words, as the story of an [Explanation] does.
func Tell(e *histories.Event) string { return (*trace)(nil).tell(e) }

// Fenced says what a fencing token would have done about w, a violation of the
// named guarantee.
func (w Witness) Fenced(guarantee string) string { return (*trace)(nil).fenced(guarantee, w) }

// Of reports whether it is a guarantee of a recipe's locks.
func (g Guarantee) Of(r histories.Recipe) bool { return g.of(r) }
