package mutate

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// Equivalent returns the mutants, by their keys, that do what the code does, each with
// the reason. Nothing can kill them, so they are not counted.
func Equivalent() (map[string]string, error) { return readEquivalent(equivalentText) }

// readEquivalent reads keys, each followed by an indented reason. A line that begins
// with # is a comment.
func readEquivalent(text string) (map[string]string, error) {
	reasons := map[string]string{}
	key := ""
	for i, line := range strings.Split(text, "\n") {
		reason := strings.TrimSpace(line)
		switch {
		case reason == "" || strings.HasPrefix(line, "#"):
		case !strings.HasPrefix(line, " "):
			if key != "" && reasons[key] == "" {
				return nil, fmt.Errorf("line %d: %s has no reason", i+1, key)
			}
			if key = line; reasons[key] != "" {
				return nil, fmt.Errorf("line %d: %s is there twice", i+1, key)
			}
		case key == "":
			return nil, fmt.Errorf("line %d: a reason, but of no mutant", i+1)
		default:
			reasons[key] = strings.TrimSpace(reasons[key] + " " + reason)
		}
	}
	if key != "" && reasons[key] == "" {
		return nil, fmt.Errorf("%s has no reason", key)
	}
	return reasons, nil
}
