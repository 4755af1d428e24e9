package report

import (
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/checker"
)

// Style says how a terminal report looks.
type Style struct {
	Color bool // use ANSI colors
}

// maxShown is how many violations of one guarantee are spelled out. The first
// ones tell the story, verdict.json has more.
const maxShown = 3

// Terminal writes the report as plain text: one line per guarantee, then the
// violations, how often faults met the lock in each state, how much each recipe
// was used, and the figures.
func Terminal(w io.Writer, r *checker.Report, style Style) error {
	p := &printer{w: w, style: style}
	p.verdicts(r.Verdicts)
	p.witnesses(r.Verdicts)
	p.meetings(r.Meetings, r.Coverage)
	p.recipes(r.Recipes)
	p.figures(r.Figures)
	for i, d := range r.Disagreements {
		if i == maxShown {
			p.printf("  … and %d more\n", len(r.Disagreements)-i)
			break
		}
		p.printf("the servers disagree: %s\n", d)
	}
	for _, n := range r.Notes {
		p.printf("note: %s\n", n)
	}
	p.printf("\n%s: %s\n", p.paint(r.Outcome(), strings.ToUpper(string(r.Outcome()))), r.Reason())
	return p.err
}

// printer keeps the first error, so that its users need not look.
type printer struct {
	w     io.Writer
	style Style
	err   error
}

func (p *printer) printf(format string, args ...any) {
	if p.err == nil {
		_, p.err = fmt.Fprintf(p.w, format, args...)
	}
}

func (p *printer) paint(o checker.Outcome, text string) string {
	if !p.style.Color {
		return text
	}
	code := map[checker.Outcome]string{
		checker.Holds: "32", checker.Violated: "1;31", checker.Unknown: "33", checker.NotExercised: "33", checker.NotJudged: "33",
	}[o]
	return "\x1b[" + code + "m" + text + "\x1b[0m"
}

func (p *printer) verdicts(verdicts []checker.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		outcome := string(v.Outcome)
		if !v.Promised && v.Outcome == checker.NotExercised {
			outcome = "not promised"
		}
		p.printf("%-23s %s%s  %s\n", v.Guarantee, p.paint(v.Outcome, outcome), pad(outcome, len("not exercised")), v.Reason)
		var figures []string
		for _, f := range v.Figures {
			figures = append(figures, f.String())
		}
		if len(figures) > 0 {
			p.printf("%-23s %s  %s\n", "", pad("", len("not exercised")), strings.Join(figures, ", "))
		}
	}
}

func (p *printer) witnesses(verdicts []checker.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome != checker.Violated {
			continue
		}
		p.printf("\n%s was violated %s:\n", v.Guarantee, times(v.Violations))
		shown := v.Witnesses[:min(len(v.Witnesses), maxShown)]
		for j, witness := range shown {
			p.printf("  %d. %s\n", j+1, witness)
		}
		if more := v.Violations - len(shown); more > 0 {
			p.printf("  … and %d more\n", more)
		}
	}
}

// recipes prints how much each was used, when there were several.
func (p *printer) recipes(rows []checker.RecipeUse) {
	if len(rows) < 2 {
		return
	}
	p.printf("\n%-17s %6s %11s %9s %22s %23s\n", "recipe", "locks", "operations", "got", "held as a fault began", "waited as a fault began")
	for _, r := range rows {
		held := "."
		if r.Recipe.IsLock() {
			held = fmt.Sprint(r.Held)
		}
		p.printf("%-17s %6d %11d %9d %22s %23d\n", r.Recipe, r.Locks, r.Operations, r.Got, held, r.Awaited)
	}
}

func (p *printer) figures(figures []checker.Figure) {
	if len(figures) == 0 {
		return
	}
	p.printf("\n")
	for _, f := range figures {
		p.printf("%s\n", f)
	}
}

// pad returns the blanks that are missing after text to make it width wide.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return fmt.Sprintf("%d times", n)
}

// Seconds prints a duration for people, to a tenth of a second.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }
