package verdict

// Outcome is the result of the checker on one guarantee, or on a run.
type Outcome string

// The outcomes.
const (
	Holds        Outcome = "holds"
	Violated     Outcome = "violated"
	Unknown      Outcome = "unknown"       // the history does not decide it, or the checker could not
	NotExercised Outcome = "not exercised" // nothing in the run put it to the test
	NotJudged    Outcome = "not judged"    // this checker cannot judge it, though the history holds enough for it
	NotPromised  Outcome = "not promised"  // the target does not promise the guarantee, so it does not count
)

// Outcomes returns all outcomes, the worst first. The outcome of several guarantees is the
// first of these that any of them has.
func Outcomes() []Outcome {
	return []Outcome{Violated, Unknown, NotExercised, NotJudged, Holds, NotPromised}
}

// Worse returns the worse of two outcomes, by the order of [Outcomes]. The empty
// outcome is better than all.
func Worse(a, b Outcome) Outcome {
	for _, o := range Outcomes() {
		if a == o || b == o {
			return o
		}
	}
	return ""
}
