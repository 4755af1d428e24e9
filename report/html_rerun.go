package report

import (
	"maps"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

var flagName = regexp.MustCompile(`^[a-z][a-z-]*$`)

// rerun returns the command line that starts the run of a history once more, or
// "" where the history does not come from zkverify run.
func rerun(header *histories.Header) string {
	if header.Options["duration"] == "" || header.Options["target"] == "" {
		return ""
	}
	args := []string{"zkverify run", "--seed=" + strconv.FormatInt(header.Seed, 10)}
	for _, name := range slices.Sorted(maps.Keys(header.Options)) {
		if flagName.MatchString(name) {
			args = append(args, "--"+name+"="+quote(header.Options[name]))
		}
	}
	return strings.Join(args, " ")
}

var plainWord = regexp.MustCompile(`^[A-Za-z0-9_./,:@%+=-]+$`)

// quote quotes a word for a POSIX shell.
func quote(word string) string {
	if plainWord.MatchString(word) {
		return word
	}
	return "'" + strings.ReplaceAll(word, "'", `'\''`) + "'"
}
