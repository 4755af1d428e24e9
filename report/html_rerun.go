package report

import (
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// rerun returns the command that runs a history again, or "" where the history
// does not come from zkverify.
func rerun(header *histories.Header, name string) string {
	if header.Target == "" || len(header.Options) == 0 {
		return ""
	}
	return "zkverify replay " + words.ShellPath(name)
}
