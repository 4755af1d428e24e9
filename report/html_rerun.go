package report

import (
	"regexp"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// rerun returns the command that runs a history again, or "" where the history
// does not come from zkverify.
func rerun(header *histories.Header, name string) string {
	if header.Target == "" || len(header.Options) == 0 {
		return ""
	}
	return "zkverify replay " + quote(name)
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,:@%+=-]+$`)

// quote quotes a word for a POSIX shell.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
