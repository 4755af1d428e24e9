package verdict

import (
	"cmp"
	"slices"
)

// The causes of violations that the record tells.
const (
	// NotTold is the cause if the session of a party had ended, or its node was gone, and it
	// went on as before.
	NotTold = "a holder was not told that its session or its node had ended"
	// OutOfTurn is the cause if the lock was granted while the node of an earlier holder
	// existed.
	OutOfTurn = "the lock was granted while the node of the earlier holder existed"
)

// Cause is a cause of violations, and the number of those that it explains.
type Cause struct {
	What  string `json:"what"`
	Count int    `json:"count"`
}

// Cause returns the cause of a violation of which two holds or writes are the parties; "" if
// the record does not tell it.
func (w *Witness) Cause() string {
	switch {
	case w.Order == GrantedEarly:
		return OutOfTurn
	case w.Untold, w.Order == InTurn, len(w.SessionEnds) > 0:
		return NotTold
	}
	return ""
}

// MainCause returns the cause of most violations, "" if the record does not tell it.
func (v *Verdict) MainCause() string {
	if len(v.Causes) == 0 {
		return ""
	}
	return v.Causes[0].What
}

// Broken returns the verdicts with violations of the given cause, in their order.
func Broken(cause string, all []Verdict) (broken []*Verdict) {
	for i := range all {
		v := &all[i]
		if v.Outcome == Violated && slices.ContainsFunc(v.Causes, func(c Cause) bool { return c.What == cause }) {
			broken = append(broken, v)
		}
	}
	return broken
}

// Blame counts one violation for its cause. The causes are kept in the order of their counts.
func (v *Verdict) Blame(cause string) {
	if cause == "" {
		return
	}
	i := slices.IndexFunc(v.Causes, func(c Cause) bool { return c.What == cause })
	if i < 0 {
		i = len(v.Causes)
		v.Causes = append(v.Causes, Cause{What: cause})
	}
	v.Causes[i].Count++
	slices.SortStableFunc(v.Causes, func(a, b Cause) int { return cmp.Compare(b.Count, a.Count) })
}

// BlameDescribed counts the described violations for their causes, if each violation is
// described.
func (v *Verdict) BlameDescribed() {
	if v.Causes != nil || len(v.Witnesses) != v.Violations {
		return
	}
	for i := range v.Witnesses {
		v.Blame(v.Witnesses[i].Cause())
	}
}
