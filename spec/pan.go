package main

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// found is what a search came to.
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
	neverReached  = regexp.MustCompile(`(?m)^\s+\S*?\.pml:(\d+), state \d+,`)
	compiledLine  = regexp.MustCompile(`(?m)\S*?\.pml:(\d+) => `)
)

// readPan reads what pan printed.
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

// judge compares what was found with what the model declares.
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

// judgeReached fails if a complete search has not been at a line that the model marks:
// what holds there holds for want of trying. states is pan's list of its states.
func (m *model) judgeReached(states, out string) error {
	lines := func(re *regexp.Regexp, text string) (all []int) {
		for _, l := range re.FindAllStringSubmatch(text, -1) {
			n, _ := strconv.Atoi(l[1])
			all = append(all, n)
		}
		return all
	}
	compiled, unreached := lines(compiledLine, states), lines(neverReached, out)
	n := 0
	for _, line := range m.reached {
		switch {
		case slices.Contains(unreached, line):
			return fmt.Errorf("the search holds for nothing: it never reaches %s.pml:%d, %s", m.name, line, m.line(line))
		case slices.Contains(compiled, line):
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("no line that %s.pml marks /* reached */ is a step of its own: put it into an atomic, not into a d_step", m.name)
	}
	return nil
}

// line is the text of a line.
func (m *model) line(number int) string {
	text, _, _ := strings.Cut(strings.Split(m.text, "\n")[number-1], "/*")
	return strings.TrimSpace(text)
}
