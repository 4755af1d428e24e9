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

// Style holds the options of a terminal report.
type Style struct {
	Color   bool // use ANSI colors
	Width   int  // letters in a line, 0 if there is no limit
	Height  int  // lines of the terminal, 0 if the output is no terminal
	Verbose bool // show figures, coverage and all recorded witnesses
}

// door returns the writer for text to w, which may be colored.
func (s Style) door(w io.Writer) io.Writer {
	if !s.Color {
		return w
	}
	return words.Colored(w)
}

// Run describes a run to a terminal report, besides its verdicts.
type Run struct {
	Header histories.Header
	Path   string   // the path of its history, or of its folder, as given on a command line
	Args   []string // further arguments of commands that judge the history
	Page   string   // the page of the run, "" if there is none
	Facts  []string // facts about the run, for a verbose report
}

// Terminal writes the report as plain text, meant to fit on one screen: the outcome,
// a line for each promised guarantee, the first violation of each violated guarantee,
// the path of the run, and the next command to type. A verbose report adds the figures,
// all recorded violations, the number of times that faults met the lock in each state,
// and the use of each recipe. If the report is longer than the screen, the outcome is
// repeated at the end.
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

// describe describes the run of a history in one line. In a verbose report it adds the time
// at which the history was recorded.
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

// countServers returns the number of servers, and of observers.
func countServers(hd *histories.Header, noun string) string {
	if hd.Observers == 0 {
		return words.Count(hd.Servers, noun)
	}
	return words.Count(hd.Servers-hd.Observers, noun) + " and " + words.Count(hd.Observers, "observer")
}

// leads returns the last lines of the report: the path of the run, and the next command.
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

// printer keeps the first error, so that its callers need not check each one.
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

// wrapped prints a text in lines. The first line begins with first, the others with further.
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

// outcome prints the outcome of the run, with the reason.
func (p *printer) outcome(r *checker.Report) {
	word := strings.ToUpper(string(r.Outcome())) + ":"
	for i, line := range words.Wrap(words.Line(word+" "+r.Reason()), p.style.Width) {
		if rest, first := strings.CutPrefix(line, word); i == 0 && first {
			line = p.paint(r.Outcome(), word) + rest
		}
		p.printf("%s\n", line)
	}
}

// verdicts prints the table: a row for each promised guarantee, and one for all others.
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

// leastReason is the least width of the column of reasons. In a narrower table a reason has
// lines of its own.
const leastReason = 24

// verdict prints a row of the table, whose first columns have the given widths.
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

// witnesses prints the first violation of each guarantee, or, in a verbose report, all
// recorded ones. A guarantee that is broken for the same cause as one before is told there.
func (p *printer) witnesses(verdicts []verdict.Verdict) {
	told := map[string]bool{}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Outcome != verdict.Violated || !p.style.Verbose && told[v.MainCause()] {
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
		if cause := v.MainCause(); cause != "" && !told[cause] {
			told[cause] = true
			p.cause(v, verdicts)
		}
	}
}

// cause prints the cause of most violations of a guarantee, and the other guarantees that are
// violated for it.
func (p *printer) cause(v *verdict.Verdict, all []verdict.Verdict) {
	p.wrapped("  ", "  ", causeOf(v))
	for _, o := range alsoBroken(v, all) {
		p.wrapped("  ", "  ", o)
	}
}

// Seconds prints a duration for people, to a tenth of a second.
func Seconds(d time.Duration) string { return fmt.Sprintf("%.1f s", d.Seconds()) }

// pad returns the blanks that fill text up to the given width.
func pad(text string, width int) string {
	return strings.Repeat(" ", max(0, width-utf8.RuneCountInString(text)))
}
