package mutate

import (
	_ "embed"
	"fmt"
	"strings"
)

//go:embed equivalent.txt
var equivalentText string

// Reasons has the reasons why no run can tell an equivalent mutant from the code, by key; a key
// that ends in * stands for all keys that begin with the text before it.
type Reasons map[string]string

// Equivalent returns the reasons of all mutants that are equivalent to the code. No run can
// kill them, so they are not counted.
func Equivalent() (Reasons, error) { return readEquivalent(equivalentText) }

// Of returns the reason why no run can tell a mutant from the code, "" if there is none.
func (r Reasons) Of(m Mutant) string {
	key := m.Key()
	if why := r[key]; why != "" {
		return why
	}
	for pattern, why := range r {
		if covers(pattern, key) {
			return why
		}
	}
	return ""
}

// covers reports whether a key of the file stands for a mutant's.
func covers(pattern, key string) bool {
	prefix, some := strings.CutSuffix(pattern, "*")
	return pattern == key || some && strings.HasPrefix(key, prefix)
}

// readEquivalent reads keys, each followed by an indented reason; keys without a line between
// them share the reason that follows. A line that begins with # is a comment.
func readEquivalent(text string) (Reasons, error) {
	reasons := Reasons{}
	var keys []string // the reason belongs to them
	told := true      // they have their reason
	for i, line := range strings.Split(text, "\n") {
		reason := strings.TrimSpace(line)
		switch {
		case strings.HasPrefix(line, "#"):
		case reason == "" && !told:
			return nil, fmt.Errorf("line %d: %s has no reason", i+1, keys[len(keys)-1])
		case reason == "":
		case !strings.HasPrefix(line, " "):
			if told {
				keys, told = nil, false
			}
			if _, twice := reasons[line]; twice {
				return nil, fmt.Errorf("line %d: %s is there twice", i+1, line)
			}
			keys, reasons[line] = append(keys, line), ""
		case keys == nil:
			return nil, fmt.Errorf("line %d: a reason, but of no mutant", i+1)
		default:
			told = true
			for _, key := range keys {
				reasons[key] = strings.TrimSpace(reasons[key] + " " + reason)
			}
		}
	}
	if !told {
		return nil, fmt.Errorf("%s has no reason", keys[len(keys)-1])
	}
	return reasons, nil
}
