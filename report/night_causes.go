package report

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
)

// NightCause is what failures of a night have in common: the cause that the record tells, or else
// the guarantee that does not hold.
type NightCause struct {
	What       string    `json:"what"`
	Guarantees []string  `json:"guarantees,omitempty"` // those that it breaks
	Seeds      []int64   `json:"seeds"`
	Since      time.Time `json:"since"` // the start of the first night in a row that had it
}

// EarlierNight holds the data of the night that another is compared with.
type EarlierNight struct {
	Started time.Time    `json:"started"`
	Causes  []NightCause `json:"causes"`
}

// Compare compares the failures of the night with those of an earlier one of the same target and
// recipes.
func (n *Night) Compare(earlier *Night) error {
	if n.Title != earlier.Title {
		return fmt.Errorf("it is a night of another target or recipe (%s)", earlier.Title)
	}
	n.Earlier = &EarlierNight{earlier.Started, earlier.Causes()}
	return nil
}

// Causes groups the failures of the night by their causes, the most frequent first.
func (n *Night) Causes() (causes []NightCause) {
	for _, r := range n.Results {
		if r.Passed() {
			continue
		}
		for _, c := range r.causes() {
			i := slices.IndexFunc(causes, func(o NightCause) bool { return o.What == c.What })
			if i < 0 {
				i = len(causes)
				causes = append(causes, NightCause{What: c.What, Since: n.since(c.What)})
			}
			causes[i].Seeds = append(causes[i].Seeds, r.Seed)
			for _, g := range c.Guarantees {
				if !slices.Contains(causes[i].Guarantees, g) {
					causes[i].Guarantees = append(causes[i].Guarantees, g)
				}
			}
		}
	}
	slices.SortStableFunc(causes, func(a, b NightCause) int { return cmp.Compare(len(b.Seeds), len(a.Seeds)) })
	return causes
}

// since returns the start of the first night in a row that had a cause, as far as is known.
func (n *Night) since(what string) time.Time {
	if n.Earlier != nil {
		for _, c := range n.Earlier.Causes {
			if c.What == what {
				return c.Since
			}
		}
	}
	return n.Started
}

// causes returns the causes of a run that did not pass, each once.
func (r *NightResult) causes() (causes []NightCause) {
	add := func(what, guarantee string) {
		i := slices.IndexFunc(causes, func(o NightCause) bool { return o.What == what })
		if i < 0 {
			i = len(causes)
			causes = append(causes, NightCause{What: what})
		}
		if guarantee != "" && !slices.Contains(causes[i].Guarantees, guarantee) {
			causes[i].Guarantees = append(causes[i].Guarantees, guarantee)
		}
	}
	for _, c := range r.Cases {
		switch {
		case c.Outcome == verdict.Violated && c.Cause != "":
			add(c.Cause, c.Guarantee)
		case c.counts():
			add(fmt.Sprintf("%s: %s", c.Guarantee, c.Outcome), "")
		}
	}
	if r.Trouble != "" {
		add("the run did not end in good order", "")
	}
	if causes == nil {
		add(string(r.Outcome), "")
	}
	return causes
}

// gone returns the causes of the earlier night that this one did not have.
func (n *Night) gone() (gone []NightCause) {
	if n.Earlier == nil {
		return nil
	}
	now := n.Causes()
	for _, c := range n.Earlier.Causes {
		if !slices.ContainsFunc(now, func(o NightCause) bool { return o.What == c.What }) {
			gone = append(gone, c)
		}
	}
	return gone
}

// causeLine is a cause in the words of the night's page and summaries.
type causeLine struct{ What, Breaks, Runs, Change string }

// causeLines tells the causes of the night's failures, then those that are gone.
func (n *Night) causeLines() (lines []causeLine) {
	date := func(t time.Time) string { return t.Format("2006-01-02 15:04") }
	for _, c := range n.Causes() {
		l := causeLine{What: c.What, Breaks: strings.Join(c.Guarantees, "; ")}
		l.Runs = fmt.Sprintf("%d of %s: %s", len(c.Seeds), words.Count(len(n.Results), "run"), seedList(c.Seeds))
		switch {
		case n.Earlier == nil:
		case c.Since.Equal(n.Started):
			l.Change = "new"
		default:
			l.Change = "still there, since the night of " + date(c.Since)
		}
		lines = append(lines, l)
	}
	for _, c := range n.gone() {
		l := causeLine{What: c.What, Breaks: strings.Join(c.Guarantees, "; "), Runs: "none", Change: "gone, last seen in the night of " + date(n.Earlier.Started)}
		if len(n.Left()) > 0 {
			l.Change = "not seen yet: not all runs are made; last seen in the night of " + date(n.Earlier.Started)
		}
		lines = append(lines, l)
	}
	return lines
}

// String returns the cause in one line.
func (l causeLine) String() string {
	text := l.What + ": " + l.Runs
	if l.Breaks != "" {
		text += "; breaks " + l.Breaks
	}
	if l.Change != "" {
		text += "; " + l.Change
	}
	return text
}
