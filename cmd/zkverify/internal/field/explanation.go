package field

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/zkverify/zkverify/nemesis/faults"
)

// Explanation is the cause of violations by some locks under some faults, as found in the
// library's source.
type Explanation struct {
	ID         string   `yaml:"id"`
	Title      string   `yaml:"title"`
	Locks      []string `yaml:"locks"` // as --lock takes them
	Guarantees []string `yaml:"guarantees"`
	// Faults are the faults of which one must have struck a party of the violation; if there
	// are none, any fault will do. For a guarantee that is judged at the end, where no fault
	// struck a party, one of them must be a fault of the plan.
	Faults []string `yaml:"faults,omitempty"`
	// Beside is one of the guarantees: a violation of another one is explained only if the run
	// violates this one for the same reason. Empty for none.
	Beside string `yaml:"beside,omitempty"`
	// Says is a regular expression that the text of the violation matches; empty for all.
	Says string `yaml:"says,omitempty"`
	// Why is the cause.
	Why string `yaml:"why"`
	// Source lists the lines that are to blame, such as file.java:12-30 at a tag.
	Source []string `yaml:"source"`
	// Issues are public reports of the cause.
	Issues []string `yaml:"issues,omitempty"`
	// Remedy is the advice for users of the lock.
	Remedy string `yaml:"remedy,omitempty"`
}

func (f *Field) validateExplanations() error {
	seen := map[string]bool{}
	for _, e := range f.Explanations {
		if e.ID == "" || seen[e.ID] || e.Title == "" || len(e.Locks) == 0 || len(e.Guarantees) == 0 || e.Why == "" || len(e.Source) == 0 {
			return fmt.Errorf("explanation %q needs an id of its own, a title, locks, guarantees, why and source", e.ID)
		}
		seen[e.ID] = true
		if _, err := regexp.Compile(e.Says); err != nil {
			return fmt.Errorf("explanation %q: says: %w", e.ID, err)
		}
		if e.Beside != "" && !slices.Contains(e.Guarantees, e.Beside) {
			return fmt.Errorf("explanation %q: beside: %q is none of its guarantees", e.ID, e.Beside)
		}
		if !slices.ContainsFunc(f.Locks(), func(l Lock) bool { return matches(e.Locks, l.id) }) {
			return fmt.Errorf("explanation %q is of no lock of the field: %q", e.ID, e.Locks)
		}
		if _, err := faults.List().Select(e.Faults, nil, true); len(e.Faults) > 0 && err != nil {
			return fmt.Errorf("explanation %q: %w", e.ID, err)
		}
	}
	return nil
}

// explained returns the explanation of a violation, nil if there is none.
func (f *Field) explained(r *Result, v Verdict) *Explanation {
	for i := range f.Explanations {
		e := &f.Explanations[i]
		beside := func(other *Verdict) bool { return other.Guarantee == e.Beside && f.fits(e, r, *other) }
		if f.fits(e, r, v) && (e.Beside == "" || slices.ContainsFunc(r.violated(), beside)) {
			return e
		}
	}
	return nil
}

// fits reports whether a violation matches an explanation, apart from its Beside.
func (f *Field) fits(e *Explanation, r *Result, v Verdict) bool {
	met := len(e.Faults) == 0 || slices.ContainsFunc(f.struck(r, v), func(name string) bool { return name == "all" || slices.Contains(e.Faults, name) })
	return met && matches(e.Locks, r.Lock) && slices.Contains(e.Guarantees, v.Guarantee) && regexp.MustCompile(e.Says).MatchString(v.What)
}

// struck returns the faults by which a violation may be explained.
func (f *Field) struck(r *Result, v Verdict) []string {
	if len(v.Faults) == 0 && (v.Guarantee == "progress" || v.Guarantee == "no leak") {
		return f.plan(r.Plan).Faults
	}
	return v.Faults
}
