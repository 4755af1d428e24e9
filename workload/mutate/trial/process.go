package trial

import (
	"fmt"
	"os/exec"
	"strings"
)

// mostMemory bounds the memory of a program, in KiB: a mutant may allocate without end.
const mostMemory = 8 << 20

// bounded returns the command of a program with the run's environment and a bound on memory,
// without its arguments.
func bounded(run Run) ([]string, error) {
	if _, err := exec.LookPath(run.Program); err != nil {
		return nil, err // else the shell would report it, as the program might
	}
	shell := []string{"sh", "-c", fmt.Sprintf(`ulimit -v %d 2>/dev/null; exec "$@"`, mostMemory), "sh", "env"}
	return append(append(shell, run.Env...), run.Program), nil
}

// panicOf returns the line that says why a Go program crashed, "" if it did not.
func panicOf(stderr string) string {
	for line := range strings.Lines(stderr) {
		for _, prefix := range []string{"panic: ", "fatal error: "} {
			if strings.HasPrefix(line, prefix) {
				return strings.TrimSpace(line)
			}
		}
	}
	return ""
}
