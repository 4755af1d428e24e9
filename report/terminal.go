package report

import (
	"bytes"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Style says how a terminal report looks.
type Style struct {
	Color   bool // use ANSI colors
	Width   int  // letters in a line, 0 if there is no limit
	Height  int  // lines of the terminal, 0 if it is none
	Verbose bool // show figures, coverage and all witnesses on record
}

// door is w for words that may be painted.
func (s Style) door(w io.Writer) io.Writer {
	if !s.Color {
		return w
	}
	return words.Colored(w)
}

// Run is what a terminal report tells of a run besides the verdicts.
type Run struct {
	Header histories.Header
	Path   string   // of its history, or the folder of it, as a command line names it
	Args   []string // what commands that judge it have to be given besides
	Page   string   // the page that was written of it, "" if none was
	Facts  []string // how it went, for a verbose report
}

// Terminal writes the report as plain text, meant to fit on one screen: the outcome,
// a line for each guarantee that was promised, the first violation of each that is
// violated, where the run is, and what to type next. A verbose report has the figures,
// all violations on record, how often faults met the lock in each state, and how much
// each recipe was used, too. Where the report is longer than the screen, the outcome
// is told again at the end.
func Terminal(w io.Writer, r *checker.Report, run Run, style Style) error {
	var page bytes.Buffer
	p := &printer{w: &page, style: style}
	p.outcome(r)
	p.wrapped("", "", describe(&run.Header, r, style.Verbose))
	p.printf("\n")
	p.verdicts(r.Verdicts)
	p.witnesses(r.Verdicts)
	if style.Verbose {
		p.details(r, run.Facts)
	}
	if len(r.Notes) > 0 {
		p.printf("\n")
	}
	for _, n := range r.Notes {
		p.wrapped("note: ", "  ", n)
	}
	p.printf("\n")
	if lines := bytes.Count(page.Bytes(), []byte("\n")); style.Height > 0 && lines+3 > style.Height {
		p.outcome(r)
	}
	for _, line := range leads(r, run) {
		p.printf("%s\n", words.Line(line))
	}
	if p.err != nil {
		return p.err
	}
	_, err := page.WriteTo(style.door(w))
	return err
}

// describe says in a line what a history is of, and in a verbose report when it was
// recorded.
func describe(hd *histories.Header, r *checker.Report, verbose bool) string {
	text := fmt.Sprintf("%s %s, seed %d, %s", hd.Target, hd.Recipe, hd.Seed, words.Count(r.Events, "event"))
	if hd.Shrunk != nil {
		text += fmt.Sprintf(" left of %d", hd.Shrunk.Events)
	}
	if hd.ZooKeeper != "" {
		text += fmt.Sprintf(", %s %s (%s)", countServers(hd, "ZooKeeper server"), hd.Versions(), hd.Ensemble)
	}
	if verbose && !hd.Started.IsZero() {
		text += ", " + hd.Started.Format(time.RFC3339)
	}
	return text
}

// countServers says how many servers there are, and how many observers.
func countServers(hd *histories.Header, noun string) string {
	if hd.Observers == 0 {
		return words.Count(hd.Servers, noun)
	}
	return words.Count(hd.Servers-hd.Observers, noun) + " and " + words.Count(hd.Observers, "observer")
}

// leads are the lines that lead on: where the run is, and what to do next.
func leads(r *checker.Report, run Run) []string {
	var lines []string
	if run.Page != "" {
		lines = append(lines, "to look at it: "+run.Page)
	}
	switch o := r.Outcome(); {
	case o == verdict.Violated && run.Path != "":
		command := words.Command(append([]string{"zkverify", "explain"}, run.Args...)...)
		lines = append(lines, "what happened: "+command+" "+words.ShellPath(run.Path))
	case o == verdict.NotExercised && run.Page != "":
		lines = append(lines, "to put more to the test: run longer (--duration), or name the faults (--faults)")
	case run.Page != "":
		lines = append(lines, "history, verdict and logs: "+run.Path)
	}
	return lines
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

// wrapped prints a text after what its first line begins with, further lines after
// what they begin with.
func (p *printer) wrapped(first, further, text string) {
	width := 0
	if p.style.Width > 0 {
		width = max(p.style.Width-max(utf8.RuneCountInString(first), utf8.RuneCountInString(further)), 16)
	}
	for i, line := range words.Wrap(words.Line(text), width) {
		if i > 0 {
			first = further
		}
		p.printf("%s%s\n", first, line)
	}
}

func (p *printer) paint(o verdict.Outcome, text string) string {
	color, colored := map[verdict.Outcome]words.Color{
		verdict.Holds: words.Green, verdict.Violated: words.Red, verdict.Unknown: words.Yellow, verdict.NotExercised: words.Yellow, verdict.NotJudged: words.Yellow,
	}[o]
	if !p.style.Color || !colored {
		return text
	}
	return words.Paint(color, text)
}

// outcome prints what the run came to, and why.
func (p *printer) outcome(r *checker.Report) {
	word := strings.ToUpper(string(r.Outcome())) + ":"
	for i, line := range words.Wrap(words.Line(word+" "+r.Reason()), p.style.Width) {
		if rest, first := strings.CutPrefix(line, word); i == 0 && first {
			line = p.paint(r.Outcome(), word) + rest
		}
		p.printf("%s\n", line)
	}
}

// verdicts prints the table: a row for each guarantee, and one for all that were not
// promised.
func (p *printer) verdicts(verdicts []verdict.Verdict) {
	name, outcome := 0, 0
	for i := range verdicts {
		if v := &verdicts[i]; v.Outcome != verdict.NotPromised {
			name, outcome = max(name, len(v.Guarantee)), max(outcome, len(v.Outcome))
		}
	}
	var not []string
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome == verdict.NotPromised {
			not = append(not, v.Guarantee)
			continue
		}
		p.verdict(v, name, outcome)
	}
	if len(not) > 0 {
		p.wrapped(string(verdict.NotPromised)+": ", "  ", strings.Join(not, "; "))
	}
}

// leastReason is how narrow the column of reasons may become before a reason has
// lines of its own.
const leastReason = 24

// verdict prints a row of the table, whose first columns are so wide.
func (p *printer) verdict(v *verdict.Verdict, name, outcome int) {
	text := string(v.Outcome)
	indent := name + 2 + outcome + 2
	first := v.Guarantee + pad(v.Guarantee, name+2) + p.paint(v.Outcome, text)
	var reason []string
	if p.style.Width > 0 && p.style.Width-indent < leastReason {
		indent = 2
		p.printf("%s\n", first)
		first = pad("", indent)
	} else {
		first += pad(text, outcome+2)
	}
	width := 0
	if p.style.Width > 0 {
		width = p.style.Width - indent
	}
	reason = words.Wrap(words.Line(v.Reason), width)
	if figures := v.Figures; p.style.Verbose && len(figures) > 0 {
		var all []string
		for _, f := range figures {
			all = append(all, f.String())
		}
		reason = append(reason, words.Wrap(strings.Join(all, ", "), width)...)
	}
	for _, line := range reason {
		p.printf("%s%s\n", first, line)
		first = pad("", indent)
	}
}

// witnesses prints the first violation of each guarantee, of a verbose report all that
// are on record.
func (p *printer) witnesses(verdicts []verdict.Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome != verdict.Violated {
			continue
		}
		shown, which := v.Witnesses, ""
		if !p.style.Verbose {
			shown = shown[:min(len(shown), 1)]
			if v.Violations > 1 {
				which = ", first"
			}
		}
		p.printf("\n")
		p.wrapped("", "  ", fmt.Sprintf("%s was violated %s%s:", v.Guarantee, words.Times(v.Violations), which))
		for j, witness := range shown {
			number := "  "
			if p.style.Verbose {
				number = fmt.Sprintf("  %d. ", j+1)
			}
			p.wrapped(number, "  ", witness.String())
		}
		if more := v.Violations - len(shown); more > 0 && p.style.Verbose {
			p.printf("  … and %d more\n", more)
		}
	}
}

// Seconds prints a duration for people, to a tenth of a second.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// pad returns the blanks that are missing after text to make it width wide.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
