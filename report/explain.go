package report

import (
	"fmt"
	"io"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/internal/words"
)

// Explanation writes a description of a violation, with the events around it.
func Explanation(w io.Writer, x *checker.Explanation, style Style) error {
	p := &printer{w: style.door(w), style: style}
	v := x.Verdict
	p.printf("%s: %s, %s\n\n", v.Guarantee, p.paint(v.Outcome, string(v.Outcome)), words.Times(v.Violations))
	p.wrapped("", "", x.Witness.String())
	p.printf("\n")
	p.others(x)
	what := 60
	if style.Width > 0 {
		what = max(style.Width-len("  123.456789 s    line 123456"), 24)
	}
	for _, l := range x.Story {
		first := fmt.Sprintf("%12.6f s", l.Time.Seconds())
		lines := words.Wrap(words.Line(l.What), what)
		for i, text := range lines {
			if i < len(lines)-1 {
				p.printf("%s  %s\n", first, text)
			} else {
				p.printf("%s  %s  line %d\n", first, text+pad(text, what), l.Line)
			}
			first = pad("", len(first))
		}
	}
	if x.More > 0 {
		p.printf("%14s  and %s\n", "", words.Count(x.More, "more event"))
	}
	p.printf("\n")
	p.wrapped("", "", x.Fencing)
	return p.err
}

// others prints the cause of the violation, and what else it breaks, each with its first violation.
func (p *printer) others(x *checker.Explanation) {
	cause := x.Witness.Cause()
	if cause == "" {
		return
	}
	p.wrapped("cause: ", "  ", cause)
	for i := range x.Others {
		o := &x.Others[i]
		p.wrapped("the same cause: ", "  ", fmt.Sprintf("%s, violated %s: %s", o.Guarantee, words.Times(o.Violations), o.Reason))
		for _, w := range o.Witnesses {
			if w.Cause() == cause {
				p.wrapped("  first: ", "  ", w.Told())
				break
			}
		}
	}
	p.printf("\n")
}
