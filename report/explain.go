package report

import (
	"io"

	"github.com/zkverify/zkverify/checker"
)

// Explanation writes a violation in plain words, with what happened around it.
func Explanation(w io.Writer, x *checker.Explanation, style Style) error {
	p := &printer{w: w, style: style}
	v := x.Verdict
	p.printf("%s: %s, %s\n\n", v.Guarantee, p.paint(v.Outcome, string(v.Outcome)), times(v.Violations))
	p.printf("%s\n\n", x.Witness)
	for _, l := range x.Story {
		p.printf("  %12.6f s  %-60s line %d\n", l.Time.Seconds(), l.What, l.Line)
	}
	p.printf("\n%s\n", x.Fencing)
	return p.err
}
