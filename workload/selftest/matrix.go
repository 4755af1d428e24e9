package selftest

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/internal/words"
)

// Matrix has the results of a self-test.
type Matrix struct {
	Seed        int64   `json:"seed"`
	ZooKeeper   string  `json:"zookeeper,omitempty"`
	Took        Seconds `json:"took"`
	Interrupted bool    `json:"interrupted,omitempty"`
	Trials      []Trial `json:"trials"`
}

// Seconds is a duration that is written in seconds, to the hundredth.
type Seconds time.Duration

// String returns the seconds to a tenth.
func (s Seconds) String() string { return fmt.Sprintf("%.1f s", time.Duration(s).Seconds()) }

// MarshalJSON writes a number.
func (s Seconds) MarshalJSON() ([]byte, error) {
	return fmt.Appendf(nil, "%.2f", time.Duration(s).Seconds()), nil
}

// UnmarshalJSON reads what MarshalJSON wrote.
func (s *Seconds) UnmarshalJSON(b []byte) error {
	var f float64
	if err := json.Unmarshal(b, &f); err != nil {
		return err
	}
	*s = Seconds(f * float64(time.Second))
	return nil
}

// Wrong returns the trials that did not go as they should.
func (m *Matrix) Wrong() []Trial {
	return slices.DeleteFunc(slices.Clone(m.Trials), func(t Trial) bool { return t.OK })
}

// OK reports whether every mutant was caught and every recipe passed.
func (m *Matrix) OK() bool { return !m.Interrupted && len(m.Trials) > 0 && len(m.Wrong()) == 0 }

// JSON writes the matrix.
func (m *Matrix) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(m)
}

// Text writes the matrix as a table, and below it the trials that went wrong, in plain words
// and in lines of at most width letters. A width of 0 is no limit.
func (m *Matrix) Text(w io.Writer, width int) error {
	if err := m.table(w, width); err != nil {
		return err
	}
	var sentences []string
	for _, trial := range m.Wrong() {
		sentences = append(sentences, trial.Sentence())
	}
	for _, sentence := range append(sentences, m.Summary()) {
		if _, err := fmt.Fprintf(w, "\n%s\n", strings.Join(words.Wrap(sentence, width), "\n")); err != nil {
			return err
		}
	}
	return nil
}

// table writes a line for each trial. Where the lines are wider than width, the provocations
// become headings, and the guarantee that had to catch a mutant is left out beside the one that
// did: if it is another, the trial is marked as wrong.
func (m *Matrix) table(w io.Writer, width int) error {
	full := [][]string{{"target", "provocation", "must be caught by", "was caught by", "seen at", "took", ""}}
	short := [][]string{{"target", "was caught by", "seen at", "took", ""}}
	for _, t := range m.Trials {
		full = append(full, []string{t.Target, t.Provocation, must(t), caught(t), seen(t), t.Took.String(), mark(t)})
		short = append(short, []string{"  " + t.Target, caught(t), seen(t), t.Took.String(), mark(t)})
	}
	rows, columns := full, widths(full)
	grouped := width > 0 && sum(columns) > width
	if grouped {
		rows, columns = short, widths(short)
		narrow(columns, width, 1, 4)
	}
	for i, row := range rows {
		if grouped && i > 0 && (i == 1 || m.Trials[i-1].Provocation != m.Trials[i-2].Provocation) {
			if _, err := fmt.Fprintln(w, m.Trials[i-1].Provocation); err != nil {
				return err
			}
		}
		if err := writeRow(w, row, columns); err != nil {
			return err
		}
	}
	return nil
}

func must(t Trial) string {
	if t.Guarantee == "" {
		return "nothing: it is correct"
	}
	return t.Guarantee
}

// caught lists the guarantees that fired, the one that had to fire first.
func caught(t Trial) string {
	if t.NotRun {
		return "not run"
	}
	fired := slices.Clone(t.Fired)
	slices.SortStableFunc(fired, func(a, b string) int {
		switch {
		case a == t.Guarantee:
			return -1
		case b == t.Guarantee:
			return 1
		}
		return 0
	})
	if len(fired) == 0 {
		return "nothing"
	}
	return strings.Join(fired, "; ")
}

func seen(t Trial) string {
	if t.Seen == nil {
		return "-"
	}
	return t.Seen.String()
}

func mark(t Trial) string {
	var marks []string
	if !t.OK {
		marks = append(marks, "WRONG")
	}
	if t.OK && t.Guarantee != "" && t.Runs > 1 {
		marks = append(marks, fmt.Sprintf("not before seed %d", t.Seed))
	}
	if t.Again > 0 {
		marks = append(marks, fmt.Sprintf("has shown nothing %d× before", t.Again))
	}
	return strings.Join(marks, "; ")
}

// Sentence describes a trial that went wrong.
func (t Trial) Sentence() string {
	what := t.Target + " in " + t.Provocation
	switch {
	case t.NotRun:
		return what + " was not run: " + t.Why
	case t.Guarantee != "":
		what += " was not caught by " + t.Guarantee
	default:
		what += ", which is correct, did not pass"
	}
	what += ": " + t.Why
	if t.Kept != "" {
		what += " (" + t.Kept + ")"
	}
	return what
}

// Summary returns the result in a line.
func (m *Matrix) Summary() string {
	var bad, caught, good, passed, notRun int
	for _, t := range m.Trials {
		switch {
		case t.NotRun:
			notRun++
		case t.Guarantee != "":
			bad++
			if t.OK {
				caught++
			}
		default:
			good++
			if t.OK {
				passed++
			}
		}
	}
	s := fmt.Sprintf("mutants and known-bad locks caught: %d of %d; provocations that the correct recipes passed: %d of %d; in %s, seed %d", caught, bad, passed, good, m.Took, m.Seed)
	if m.ZooKeeper != "" {
		s += ", ZooKeeper " + m.ZooKeeper
	}
	if notRun > 0 {
		s += fmt.Sprintf("; %d not run", notRun)
	}
	if m.Interrupted {
		s += "; interrupted"
	}
	return s
}
