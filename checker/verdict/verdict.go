package verdict

import (
	"cmp"
	"fmt"
	"slices"
	"time"
)

// Verdict is the result for one guarantee.
type Verdict struct {
	Guarantee string  `json:"guarantee"`
	Outcome   Outcome `json:"outcome"`

	// Promised is false when the target does not promise the guarantee. Its outcome is then
	// NotPromised, or Unknown where the engines disagree.
	Promised bool `json:"promised"`
	// Expected is false when the run did not set out to exercise the guarantee (no fault to
	// lose a session to, no counter in the workload). NotExercised does not count for the run
	// then.
	Expected bool `json:"expected"`

	Reason string `json:"reason"`
	// Witnesses are the first few violations, and the first of each cause, in order of time.
	Witnesses []Witness `json:"witnesses,omitempty"`
	// Violations counts all violations.
	Violations int      `json:"violations,omitempty"`
	Figures    []Figure `json:"figures,omitempty"`
	// Causes are the causes of the violations that the record tells, the most frequent first.
	Causes []Cause `json:"causes,omitempty"`

	everyOne  bool        // every violation becomes a witness, and not only the first few
	found     []violation // the violations that may become witnesses
	causes    []ofCause   // a violation of each cause
	gaveUp    int         // locks that Porcupine left undecided
	undecided string      // why the verdict is unknown if no violation is found
}

// violation is one violation, to be told when the whole history has been read: only then is it
// known how long the violation went on.
type violation struct {
	from time.Duration
	tell func() Witness
}

// ofCause is a violation of a cause, "" if the record does not tell it.
type ofCause struct {
	cause string
	tell  func() Witness
}

// Figure returns the value of the named figure, and whether there is one.
func (v *Verdict) Figure(name string) (float64, bool) {
	for _, f := range v.Figures {
		if f.Name == name {
			return f.Value, true
		}
	}
	return 0, false
}

// String returns the verdict as one line.
func (v *Verdict) String() string {
	return fmt.Sprintf("%s: %s (%s)", v.Guarantee, v.Outcome, v.Reason)
}

// maxWitnesses bounds the violations that a verdict describes. A broken lock breaks thousands
// of times, and the first violations tell enough.
const maxWitnesses = 10

// Count adds a figure that is a count.
func (v *Verdict) Count(name string, n int) {
	v.Figures = append(v.Figures, Figure{Name: name, Value: float64(n)})
}

// New returns an empty verdict. It describes the first few violations, or every one.
func New(guarantee string, everyOne bool) *Verdict {
	return &Verdict{Guarantee: guarantee, everyOne: everyOne}
}

// LeaveUndecided sets the reason why the verdict is unknown if no violation is found.
func (v *Verdict) LeaveUndecided(why string) { v.undecided = why }

// GiveUp is LeaveUndecided for a lock that Porcupine has given up on, and counts the lock.
func (v *Verdict) GiveUp(why string) {
	v.gaveUp++
	v.LeaveUndecided(why)
}

// Undecided returns the reason why the verdict is unknown if no violation is found; "" if it is
// not.
func (v *Verdict) Undecided() string { return v.undecided }

// Fresh returns a verdict without violations that describes as many of them as v does.
func (v *Verdict) Fresh() *Verdict { return &Verdict{Guarantee: v.Guarantee, everyOne: v.everyOne} }

// Violate counts one violation, and keeps its witness if it is one of the first in time. Locks
// are judged one after the other, and the report begins with the lock that broke first.
func (v *Verdict) Violate(w func() Witness) {
	v.ViolateFrom(w().From, w)
}

// ViolateFrom counts a violation whose witness takes long to compose. The violation begins at
// from.
func (v *Verdict) ViolateFrom(from time.Duration, w func() Witness) {
	v.Violations++
	v.found = append(v.found, violation{from, w})
	if len(v.found) == 2*maxWitnesses && !v.everyOne {
		v.keepFirst()
	}
}

// Shows reports whether a violation that begins at from may be among those that are described.
// The others are only counted.
func (v *Verdict) Shows(from time.Duration) bool {
	before := 0
	for _, f := range v.found {
		if f.from <= from {
			before++
		}
	}
	return v.everyOne || before < maxWitnesses
}

func (v *Verdict) keepFirst() {
	slices.SortStableFunc(v.found, func(a, b violation) int { return cmp.Compare(a.from, b.from) })
	if !v.everyOne {
		v.found = v.found[:min(len(v.found), maxWitnesses)]
	}
}

// Exemplify keeps a counted violation of a cause, which becomes a witness unless another one of
// that cause does.
func (v *Verdict) Exemplify(cause string, w func() Witness) {
	v.causes = append(v.causes, ofCause{cause, w})
}

// Conclude fills in the outcome of a guarantee that was exercised.
func (v *Verdict) Conclude(holds, violated string) {
	if v.Violations > 0 {
		v.Outcome, v.Reason = Violated, violated
		return
	}
	v.Outcome, v.Reason = Holds, holds
}

// Merge adds the violations that another verdict has found.
func (v *Verdict) Merge(other *Verdict) {
	v.Violations += other.Violations
	v.found = append(v.found, other.found...)
}

// TellViolations composes the witnesses of the violations that are kept.
func (v *Verdict) TellViolations() {
	v.keepFirst()
	for _, f := range v.found {
		v.Witnesses = append(v.Witnesses, f.tell())
	}
	for _, x := range v.causes {
		if !slices.ContainsFunc(v.Witnesses, func(w Witness) bool { return w.Cause() == x.cause }) {
			v.Witnesses = append(v.Witnesses, x.tell()) // later than the first few
		}
	}
	v.found, v.causes = nil, nil
	if v.gaveUp > 0 {
		v.Count("locks that Porcupine left undecided", v.gaveUp)
	}
}

// Idle sets the outcome to NotExercised, with the reason.
func (v *Verdict) Idle(reason string) { v.Outcome, v.Reason = NotExercised, reason }
