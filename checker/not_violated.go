package checker

import (
	"errors"
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Errors of [Shrink] and [Explain].
var (
	// ErrNotViolated means that the history does not violate the named guarantee, or any
	// guarantee if none is named. For a named guarantee, the error that wraps it states its
	// outcome, and names the guarantees that are violated.
	ErrNotViolated = errors.New("no guarantee is violated")
	// ErrNoGuarantee means that no guarantee has that name.
	ErrNoGuarantee = errors.New("unknown guarantee")
)

// notViolated is the ErrNotViolated of a named guarantee: it states the outcome, and names the
// guarantees that are violated.
type notViolated struct{ text string }

func (e notViolated) Error() string { return e.text }
func (notViolated) Unwrap() error   { return ErrNotViolated }

// refuse returns the error for a guarantee that is not violated; it states the guarantee's
// outcome.
func (r *Report) refuse(guarantee string, shrunk *histories.Shrunk) error {
	var others []string
	for i := range r.Verdicts {
		if v := &r.Verdicts[i]; v.Outcome == verdict.Violated {
			others = append(others, v.Guarantee)
		}
	}
	violated := ErrNotViolated.Error()
	if len(others) > 0 {
		violated = "violated: " + strings.Join(others, "; ")
	}
	v := r.Verdict(guarantee)
	switch {
	case v == nil && shrunk != nil:
		return notViolated{fmt.Sprintf("%s was not judged: the history was shrunk for %s, and is judged on nothing else; %s", guarantee, shrunk.Guarantee, violated)}
	case v == nil && ofServers(guarantee):
		return notViolated{fmt.Sprintf("%s was not judged: what the servers did is not known; %s", guarantee, violated)}
	case v == nil:
		return notViolated{fmt.Sprintf("%s is no guarantee of the recipes that were driven; %s", guarantee, violated)}
	case v.Outcome == verdict.Holds:
		return notViolated{fmt.Sprintf("%s holds; %s", guarantee, violated)}
	case v.Outcome == verdict.NotPromised:
		return notViolated{fmt.Sprintf("%s is %s; %s", guarantee, v.Reason, violated)}
	}
	is := map[verdict.Outcome]string{
		verdict.NotExercised: "was not exercised", verdict.NotJudged: "was not judged", verdict.Unknown: "is unknown",
	}[v.Outcome]
	return notViolated{fmt.Sprintf("%s %s: %s; %s", guarantee, is, v.Reason, violated)}
}

// ofServers reports whether a guarantee is judged by the servers' log.
func ofServers(guarantee string) bool {
	g, err := guaranteeNamed(guarantee, guarantees)
	return err == nil && g.ofServers
}
