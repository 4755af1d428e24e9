package spec

import (
	"embed"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

//go:embed *.pml *.inc
var files embed.FS

// model is a file in Promela, with the declarations in its comments.
type model struct {
	name     string // of the file, without .pml
	text     string
	switches []toggle
	searches []search
	reached  []int    // lines that every complete search must reach
	stands   []string // functions of recipes that the model's steps represent
}

// toggle is a switch of a model, set by -D.
type toggle struct {
	name  string
	value string // the name of the value, if the switch takes one
	what  string
}

// search is one search of one model.
type search struct {
	model    string
	name     string
	switches []string // -D…, for spin's preprocessor
	quick    bool
	mode     mode
	formula  string // the name of the formula, in mode ltl
	fair     bool
	noReduce bool
	depth    int // steps
	memory   int // MB
	limit    time.Duration
	want     result
	text     string // part of the assertion that is violated
}

// mode is the kind of error that a search looks for, besides violated assertions.
type mode string

const (
	safety   mode = ""         // states without a next step
	ltl      mode = "ltl"      // runs that the formula forbids
	accept   mode = "accept"   // runs that pass an accept label for ever
	progress mode = "progress" // runs that pass no progress label any more
	reach    mode = "reach"    // only violated assertions
)

// result is the result of a search.
type result string

const (
	holds    result = "holds"
	violated result = "violated" // an assertion
	stuck    result = "stuck"    // a state without a next step that is no end state
	cycle    result = "cycle"    // a forbidden run without end
)

func (s search) String() string { return fmt.Sprintf("%s %q", s.model, s.name) }

// expected returns the declared result.
func (s search) expected() string { return strings.TrimSpace(string(s.want) + " " + s.text) }

var (
	declaration = regexp.MustCompile(`^[\s*/]*(search|switch):\s*(.*?)\s*(?:\*/)?\s*$`)
	searchLine  = regexp.MustCompile(`^"([^"]+)"(.*)=>\s*(\w+)\s*(.*)$`)
	switchLine  = regexp.MustCompile(`^(\w+)(?:=(\w+))?\s+(.+)$`)
	standsFor   = regexp.MustCompile(`recipes:\s*((?:[\w.]+,\s*(?:\*\s*)?)*[\w.]+)`)
)

// models reads the models that are embedded in the program.
func models() ([]*model, error) {
	names, err := fs.Glob(files, "*.pml")
	if err != nil {
		return nil, err
	}
	var all []*model
	for _, name := range names {
		text, err := files.ReadFile(name)
		if err != nil {
			return nil, err
		}
		m, err := parseModel(strings.TrimSuffix(name, path.Ext(name)), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// includes returns the texts that models share, by the name of the file.
func includes() map[string]string {
	names, _ := fs.Glob(files, "*.inc") // the pattern is right
	all := make(map[string]string)
	for _, name := range names {
		text, _ := files.ReadFile(name) // it is embedded
		all[name] = string(text)
	}
	return all
}

var includeLine = regexp.MustCompile(`(?m)^#include "(.+)"$`)

// included returns the texts that a text includes, and that these include.
func included(text string) string {
	var all strings.Builder
	for _, name := range includeLine.FindAllStringSubmatch(text, -1) {
		part := includes()[name[1]]
		all.WriteString(part + included(part))
	}
	return all.String()
}

// parseModel reads the declarations in the comments of a model.
func parseModel(name, text string) (*model, error) {
	m := &model{name: name, text: text, reached: markedLines(text)}
	for i, line := range strings.Split(text, "\n") {
		d := declaration.FindStringSubmatch(line)
		if d == nil {
			continue
		}
		if d[1] == "switch" {
			s := switchLine.FindStringSubmatch(d[2])
			if s == nil {
				return nil, fmt.Errorf("%s.pml:%d: want switch: NAME[=VALUE] WHAT IT CHANGES", name, i+1)
			}
			m.switches = append(m.switches, toggle{s[1], s[2], s[3]})
			continue
		}
		s, err := parseSearch(name, d[2])
		if err != nil {
			return nil, fmt.Errorf("%s.pml:%d: %w", name, i+1, err)
		}
		m.searches = append(m.searches, s)
	}
	for _, s := range standsFor.FindAllStringSubmatch(text+included(text), -1) {
		for part := range strings.SplitSeq(s[1], ",") {
			m.stands = append(m.stands, strings.Trim(part, " \t\n*"))
		}
	}
	return m, m.check()
}

func parseSearch(model, text string) (search, error) {
	parts := searchLine.FindStringSubmatch(text)
	if parts == nil {
		return search{}, fmt.Errorf(`want search: "NAME" [WORD...] [-DSWITCH...] => RESULT`)
	}
	s := search{
		model: model, name: parts[1], want: result(parts[3]), text: parts[4],
		depth: 1_000_000, memory: 2000, limit: 2 * time.Minute,
	}
	if !slices.Contains([]result{holds, violated, stuck, cycle}, s.want) || s.text != "" && s.want != violated {
		return s, fmt.Errorf("search %q: the result is %s, want holds, violated [TEXT], stuck or cycle", s.name, s.expected())
	}
	for _, word := range strings.Fields(parts[2]) {
		if err := s.word(word); err != nil {
			return s, fmt.Errorf("search %q: %w", s.name, err)
		}
	}
	if s.fair && s.mode == safety {
		return s, fmt.Errorf("search %q: fair needs ltl=NAME, accept or progress", s.name)
	}
	return s, nil
}

// word applies one word of a declaration.
func (s *search) word(word string) error {
	key, value, valued := strings.Cut(word, "=")
	if strings.HasPrefix(word, "-D") {
		s.switches = append(s.switches, word)
		return nil
	}
	if valued != slices.Contains([]string{"ltl", "depth", "memory", "time"}, key) {
		return fmt.Errorf("%s: unknown word", word)
	}
	number := 0
	if valued && key != "ltl" {
		var err error
		if number, err = strconv.Atoi(value); err != nil || number < 1 {
			return fmt.Errorf("%s: want a whole number of 1 or more", word)
		}
	}
	switch key {
	case "quick":
		s.quick = true
	case "fair":
		s.fair = true
	case "noreduce":
		s.noReduce = true
	case "ltl", "accept", "progress":
		if s.mode != safety {
			return fmt.Errorf("%s: a search is one of ltl=NAME, accept and progress", word)
		}
		s.mode, s.formula = mode(key), value
	case "depth":
		s.depth = number
	case "memory":
		s.memory = number
	case "time":
		s.limit = time.Duration(number) * time.Second
	default:
		return fmt.Errorf("%s: unknown word", word)
	}
	return nil
}

// check refuses declarations that do not fit together.
func (m *model) check() error {
	if len(m.searches) == 0 {
		return fmt.Errorf("%s.pml declares no search", m.name)
	}
	if len(m.reached) == 0 {
		return fmt.Errorf("%s.pml marks no line /* reached */: a search that does nothing would hold", m.name)
	}
	found := make(map[string]bool) // switches with a search that does not hold
	names := make(map[string]bool)
	for _, s := range m.searches {
		if names[s.name] {
			return fmt.Errorf("%s.pml has two searches %q", m.name, s.name)
		}
		names[s.name] = true
		// pan takes the only formula of a model, even if the name is another.
		if s.mode == ltl && !regexp.MustCompile(`(?m)^\s*ltl\s+`+regexp.QuoteMeta(s.formula)+`\s*\{`).MatchString(m.text) {
			return fmt.Errorf("%s.pml: search %q: there is no ltl %s { … }", m.name, s.name, s.formula)
		}
		for _, d := range s.switches {
			name, _, _ := strings.Cut(strings.TrimPrefix(d, "-D"), "=")
			if !slices.ContainsFunc(m.switches, func(t toggle) bool { return t.name == name }) {
				return fmt.Errorf("%s.pml: search %q uses the switch %s, which no switch: line declares", m.name, s.name, name)
			}
			found[name] = found[name] || s.want != holds
		}
	}
	for _, t := range m.switches {
		if isMistake(t.name) && !found[t.name] {
			return fmt.Errorf("%s.pml: no search shows what is wrong with %s", m.name, t.name)
		}
	}
	return nil
}
