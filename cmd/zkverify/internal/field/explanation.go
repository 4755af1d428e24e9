package field

import (
	"fmt"
	"regexp"
	"slices"

	"github.com/zkverify/zkverify/nemesis/faults"
)

// Explanation says why locks violate guarantees under faults. Somebody has found it in the
// library's source.
type Explanation struct {
	ID         string   `yaml:"id"`
	Title      string   `yaml:"title"`
	Locks      []string `yaml:"locks"` // as --lock takes them
	Guarantees []string `yaml:"guarantees"`
	// Faults are those of which one struck a party of the violation: none stand for all. What
	// is judged when the faults are over, and was struck by none, goes by those of the plan.
	Faults []string `yaml:"faults,omitempty"`
	// Beside is one of the guarantees: a violation of another is explained only if the run
	// violates this one for the same reason. Empty for none.
	Beside string `yaml:"beside,omitempty"`
	// Says is a regular expression that the words of the violation match; empty for all.
	Says string `yaml:"says,omitempty"`
	// Why is the cause.
	Why string `yaml:"why"`
	// Source has the lines that are to blame, such as file.java:12-30 at a tag.
	Source []string `yaml:"source"`
	// Issue is a public report of the cause; none if nobody has reported it.
	Issue string `yaml:"issue,omitempty"`
	// Remedy is what a user of the lock can do.
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

// fits tells whether a violation is such as an explanation is about.
func (f *Field) fits(e *Explanation, r *Result, v Verdict) bool {
	met := len(e.Faults) == 0 || slices.ContainsFunc(f.struck(r, v), func(name string) bool { return name == "all" || slices.Contains(e.Faults, name) })
	return met && matches(e.Locks, r.Lock) && slices.Contains(e.Guarantees, v.Guarantee) && regexp.MustCompile(e.Says).MatchString(v.What)
}

// struck are the faults that an explanation of a violation may go by.
func (f *Field) struck(r *Result, v Verdict) []string {
	if len(v.Faults) == 0 && (v.Guarantee == "progress" || v.Guarantee == "no leak") {
		for _, p := range f.Plans {
			if p.Name == r.Plan {
				return p.Faults
			}
		}
	}
	return v.Faults
}
