package words

import (
	"strings"
	"unicode/utf8"
)

// Wrap breaks a text at blanks into lines of at most width letters. A word that is longer
// has a line of its own. A width of 0 means no limit.
func Wrap(text string, width int) []string {
	if width <= 0 || utf8.RuneCountInString(text) <= width {
		return []string{text}
	}
	var lines []string
	line, used := "", 0
	for word := range strings.FieldsSeq(text) {
		n := utf8.RuneCountInString(word)
		switch {
		case used == 0:
			line, used = word, n
		case used+1+n <= width:
			line, used = line+" "+word, used+1+n
		default:
			lines = append(lines, line)
			line, used = word, n
		}
	}
	return append(lines, line)
}
