package spec

import (
	_ "embed"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// pathsFile has the paths, as makePaths has written them.
//
//go:embed paths.txt
var pathsFile string

// Path is what a run of mutex.pml or create.pml consists of, as far as a run of the locks can be steered
// to do it: its faults, in their order.
type Path struct {
	Contenders int
	Shared     bool // two contenders have one session
	Faults     []PathFault
	// Mistakes are the switches to whose counter-examples the path belongs, such as
	// mutex/BUG_WAITS_ON; none for faults that meet a correct contender at any of its steps.
	Mistakes []string
}

// PathFault is a fault of a Path.
type PathFault struct {
	// Fault is break (a connection), silence (until the lease ends), expire (a silence until the
	// session ends), cancel, crash, deposed (the contender is told too early that its session has ended),
	// delete (of its node, by others), or overtake (others' transactions overtake its request or answer).
	Fault string
	// Step is the step at which the contender is: create, settle (the write after a lost answer), delete
	// or write, each .asked until the servers carry it out and .done until it is answered, lost (an answer
	// has not come), wait, turn (first in the queue) or hold.
	Step string
	// Ahead and Behind are the numbers of nodes ahead of its own and behind it, 2 for more.
	Ahead, Behind int
	// Other says that it meets another contender than the fault before.
	Other bool
}

// String returns the fault as the file has it.
func (f PathFault) String() string {
	text := fmt.Sprintf("%s %s %d %d", f.Fault, f.Step, f.Ahead, f.Behind)
	if f.Other {
		text += " other"
	}
	return text
}

// String returns the path as the file has it, without its mistakes.
func (p Path) String() string {
	var all []string
	for _, f := range p.Faults {
		all = append(all, f.String())
	}
	return p.world() + ": " + strings.Join(all, "; ")
}

// world returns the contenders of the path.
func (p Path) world() string {
	if p.Shared {
		return strconv.Itoa(p.Contenders) + " shared"
	}
	return strconv.Itoa(p.Contenders)
}

// Paths returns the paths of the models.
func Paths() []Path { return readPaths() }

var readPaths = sync.OnceValue(func() (all []Path) {
	for line := range strings.Lines(pathsFile) {
		if !strings.HasPrefix(line, "#") {
			all = append(all, parsePaths(line)...)
		}
	}
	return all
})

// parsePaths reads a line of the file: paths that begin alike. The file is made by makePaths, and a test
// reads it.
func parsePaths(line string) (all []Path) {
	line, mistakes, _ := strings.Cut(strings.TrimSpace(line), " = ")
	world, rest, _ := strings.Cut(line, ":")
	rest = strings.TrimSpace(rest)
	first, seconds, two := strings.Cut(rest, "; ")
	number, shared := strings.CutSuffix(world, " shared")
	p := Path{Shared: shared, Mistakes: strings.Fields(mistakes)}
	p.Contenders, _ = strconv.Atoi(number)
	if rest == "" {
		return []Path{p}
	}
	p.Faults = []PathFault{parseFault(first)}
	if !two {
		return []Path{p}
	}
	for second := range strings.SplitSeq(seconds, " | ") {
		more := p
		more.Faults = []PathFault{p.Faults[0], parseFault(second)}
		all = append(all, more)
	}
	return all
}

func parseFault(text string) (f PathFault) {
	words := append(strings.Fields(text), "", "", "", "")
	f.Fault, f.Step, f.Other = words[0], words[1], words[4] == "other"
	f.Ahead, _ = strconv.Atoi(words[2])
	f.Behind, _ = strconv.Atoi(words[3])
	return f
}

// formatPaths returns the lines of the file: those of mistakes first, and paths of no mistake that begin
// alike on one line.
func formatPaths(paths []Path) string {
	var lines []string
	alike := map[string][]string{}
	for _, p := range paths {
		text := p.String()
		switch {
		case len(p.Mistakes) > 0:
			lines = append(lines, strings.TrimSpace(text)+" = "+strings.Join(p.Mistakes, " "))
		case len(p.Faults) == 2:
			first := p.world() + ": " + p.Faults[0].String()
			alike[first] = append(alike[first], p.Faults[1].String())
		default:
			alike[text] = append(alike[text], "")
		}
	}
	slices.Sort(lines)
	var rest []string
	for first, seconds := range alike {
		slices.Sort(seconds)
		if seconds[0] == "" {
			rest, seconds = append(rest, first), seconds[1:]
		}
		if len(seconds) > 0 {
			rest = append(rest, first+"; "+strings.Join(seconds, " | "))
		}
	}
	slices.Sort(rest)
	return strings.Join(append(lines, rest...), "\n") + "\n"
}
