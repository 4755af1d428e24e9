package mutate

import (
	"cmp"
	"slices"
	"strings"
)

// splice changes a range of a file's text. Splices nest or do not overlap, as do the nodes of
// the syntax tree that they belong to. The new text of a splice has as many lines as the old
// one, so that the positions in a panic of a mutant are those of the source.
type splice struct {
	mutant   int // the candidate that it belongs to
	from, to int // offsets in the file
	inner    bool
	text     func(number int, inside string) string
}

// render returns the source with the splices of the candidates to which number gives a number,
// each with that number; those with number 0 are left out. Of splices of one range, the inner
// ones are applied first.
func render(source string, all []splice, number func(candidate int) int) string {
	var on []splice
	for _, s := range all {
		if number(s.mutant) != 0 {
			on = append(on, s)
		}
	}
	slices.SortStableFunc(on, func(a, b splice) int {
		if d := cmp.Compare(a.from, b.from); d != 0 {
			return d
		}
		if d := cmp.Compare(b.to, a.to); d != 0 {
			return d
		}
		switch {
		case a.inner == b.inner:
			return 0
		case a.inner:
			return 1
		}
		return -1
	})
	text, _ := renderRange(source, on, 0, len(source), number)
	return text
}

// renderRange renders the source between two offsets with the splices at the head of
// on that lie in it, and returns the splices that do not.
func renderRange(source string, on []splice, from, to int, number func(int) int) (string, []splice) {
	var b strings.Builder
	for len(on) > 0 && on[0].from < to {
		s := on[0]
		b.WriteString(source[from:s.from])
		var inside string
		inside, on = renderRange(source, on[1:], s.from, s.to, number)
		b.WriteString(s.text(number(s.mutant), inside))
		from = s.to
	}
	b.WriteString(source[from:to])
	return b.String(), on
}
