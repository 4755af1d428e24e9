package spec

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// found is the outcome of a search.
type found struct {
	result  result
	what    string // the assertion, as pan words it
	states  int64
	seconds float64
}

// errIncomplete is wrapped by the failures of searches that did not see every state.
var errIncomplete = errors.New("the search is not complete")

var (
	errorsLine    = regexp.MustCompile(`(?m)^State-vector .* errors: (\d+)`)
	statesLine    = regexp.MustCompile(`(?m)^\s*(\S+) states, stored`)
	elapsedLine   = regexp.MustCompile(`(?m)^pan: elapsed time (\S+) seconds`)
	assertionLine = regexp.MustCompile(`(?m)^pan:\d+: assertion violated (.*) \(at depth \d+\)`)
	firstError    = regexp.MustCompile(`(?m)^pan:\d+: (.*)$`)
)

// readPan reads the output of pan.
func readPan(s search, out string) (found, error) {
	var f found
	if m := statesLine.FindStringSubmatch(out); m != nil {
		n, err := strconv.ParseFloat(m[1], 64) // from a hundred million on, pan writes an exponent
		if err != nil {
			return f, fmt.Errorf("pan counts %q states", m[1])
		}
		f.states = int64(n)
	}
	if m := elapsedLine.FindStringSubmatch(out); m != nil {
		f.seconds, _ = strconv.ParseFloat(m[1], 64)
	}
	n := errorsLine.FindStringSubmatch(out)
	if n == nil || strings.Contains(out, "pan: out of memory") || strings.Contains(out, "reached -DMEMLIM bound") {
		return f, fmt.Errorf("%w: it needs more than %d MB of memory, or more than this machine has; raise its memory=, or make the model smaller", errIncomplete, s.memory)
	}
	if n[1] == "0" {
		switch {
		case strings.Contains(out, "max search depth too small"):
			return f, fmt.Errorf("%w: a run has more than %d steps; raise its depth=", errIncomplete, s.depth)
		case strings.Contains(out, "Search not completed"):
			return f, fmt.Errorf("%w: pan says no more than that", errIncomplete)
		}
		f.result = holds
		return f, nil
	}
	m := firstError.FindStringSubmatch(out)
	switch {
	case m == nil:
		return f, errors.New("pan found an error and does not say which")
	case strings.HasPrefix(m[1], "assertion violated"):
		f.result = violated
		if a := assertionLine.FindStringSubmatch(out); a != nil {
			f.what = strings.TrimSpace(a[1])
		}
	case strings.HasPrefix(m[1], "invalid end state"):
		f.result = stuck
	case strings.HasPrefix(m[1], "acceptance cycle"), strings.HasPrefix(m[1], "non-progress cycle"):
		f.result = cycle
	default:
		return f, fmt.Errorf("the model is wrong: pan says %q", m[1])
	}
	return f, nil
}

// judge compares the outcome with the result that the model declares.
func (s search) judge(f found) error {
	blanks := strings.NewReplacer(" ", "", "\t", "")
	switch {
	case f.result != s.want:
		return fmt.Errorf("found: %s, expected: %s", strings.TrimSpace(string(f.result)+" "+f.what), s.expected())
	case !strings.Contains(blanks.Replace(f.what), blanks.Replace(s.text)):
		return fmt.Errorf("another assertion is violated: %s, expected: %s", f.what, s.text)
	}
	return nil
}

// reachedMark is the end of a line that every search that holds must reach.
var reachedMark = regexp.MustCompile(`([^\s]?)\s*/\*\s*reached\s*\*/\s*$`)

// markedLines returns the numbers of the lines that end with the mark.
func markedLines(text string) (numbers []int) {
	for i, line := range strings.Split(text, "\n") {
		if reachedMark.MatchString(line) {
			numbers = append(numbers, i+1)
		}
	}
	return numbers
}

// failingAt returns the text of the model with an assertion that fails in a marked line.
func (m *model) failingAt(number int) string {
	lines := strings.Split(m.text, "\n")
	last := reachedMark.FindStringSubmatch(lines[number-1])[1]
	fails := fmt.Sprintf("%s; assert%s", last, failure(number))
	if last == ";" {
		fails = fmt.Sprintf("; assert%s;", failure(number))
	}
	lines[number-1] = reachedMark.ReplaceAllLiteralString(lines[number-1], fails)
	return strings.Join(lines, "\n")
}

// failure returns the assertion in a line, which is false, as pan words it.
func failure(number int) string { return fmt.Sprintf("(0==%d)", number) }

// line returns the code of a line.
func (m *model) line(number int) string {
	return strings.TrimSpace(reachedMark.ReplaceAllString(strings.Split(m.text, "\n")[number-1], "$1"))
}
