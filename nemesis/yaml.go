package nemesis

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/goccy/go-yaml"
	"github.com/goccy/go-yaml/ast"
	"github.com/goccy/go-yaml/lexer"
	"github.com/goccy/go-yaml/parser"
	"github.com/goccy/go-yaml/token"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// stepYAML is a step as it is written in YAML.
type stepYAML struct {
	At     string            `yaml:"at"`
	For    string            `yaml:"for,omitempty"`
	Fault  string            `yaml:"fault"`
	Aim    fault.Aim         `yaml:"aim,omitempty"`
	Client *int              `yaml:"client,omitempty"`
	Server string            `yaml:"server,omitempty"`
	Links  fault.Links       `yaml:"links,omitempty"`
	Draw   uint32            `yaml:"draw,omitempty"`
	Params map[string]string `yaml:"params,omitempty"`
}

// LineError is an error in a schedule in YAML, with its line.
type LineError struct {
	Line int // from 1
	Err  error
}

// Error names the line.
func (e *LineError) Error() string { return fmt.Sprintf("line %d: %v", e.Line, e.Err) }

// Unwrap returns the error without the line.
func (e *LineError) Unwrap() error { return e.Err }

// ReadYAML reads a schedule that [Schedule.WriteYAML] wrote, or that was written by hand: a
// list of faults, in any order, under the key "faults". It returns a [*LineError] for unknown
// fields and faults, for invalid times, and for faults that cannot be in force together.
// Kinds are the kinds that the schedule may name.
func ReadYAML(r io.Reader, kinds fault.Kinds) (Schedule, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxYAML+1))
	switch {
	case err != nil:
		return Schedule{}, err
	case len(text) > maxYAML:
		return Schedule{}, &LineError{1, fmt.Errorf("it is larger than %d MiB", maxYAML>>20)}
	}
	tokens := lexer.Tokenize(string(text))
	if line, deep := deeper(tokens, maxDepth); deep {
		return Schedule{}, &LineError{line, fmt.Errorf("more than %d lists and maps lie in each other", maxDepth)}
	}
	file, err := parser.Parse(tokens, 0)
	if err != nil {
		return Schedule{}, lineOf(err, 1)
	}
	list, err := faultsOf(file)
	if err != nil {
		return Schedule{}, err
	}
	if len(list) > maxSteps {
		return Schedule{}, &LineError{list[maxSteps].GetToken().Position.Line, fmt.Errorf("a schedule has at most %d faults", maxSteps)}
	}
	type placed struct {
		Step
		line int
	}
	var steps []placed
	for _, node := range list {
		line := node.GetToken().Position.Line
		if m, ok := node.(*ast.MappingNode); ok && len(m.Values) > 0 {
			line = m.Values[0].Key.GetToken().Position.Line
		}
		var y stepYAML
		if err := yaml.NodeToValue(node, &y, yaml.Strict()); err != nil {
			return Schedule{}, lineOf(err, line)
		}
		step, err := y.step()
		if err == nil {
			err = step.check(kinds)
		}
		if err != nil {
			return Schedule{}, &LineError{line, err}
		}
		steps = append(steps, placed{step, line})
	}
	slices.SortStableFunc(steps, func(a, b placed) int { return cmp.Compare(a.At, b.At) })
	var s Schedule
	var on []placed // earlier steps that are in force when b begins
	for _, b := range steps {
		on = slices.DeleteFunc(on, func(a placed) bool { return a.At+max(a.For, time.Nanosecond) <= b.At })
		for _, a := range on {
			if err := clash(kinds, a.Step, b.Step); err != nil {
				return Schedule{}, &LineError{b.line, fmt.Errorf("%w (line %d)", err, a.line)}
			}
		}
		on = append(on, b)
		s.Steps = append(s.Steps, b.Step)
	}
	return s, nil
}

// The limits of a schedule. A night of eight hours has a fault every two seconds. The parser's time
// grows with the square of the depth, and a schedule needs four levels.
const (
	maxYAML  = 16 << 20
	maxSteps = 20_000
	maxDepth = 32
)

// deeper returns the line at which more than the given number of lists and maps are nested: it
// counts open brackets, and dashes on one line. Blocks on lines of their own cannot nest deeply,
// since each needs more indentation.
func deeper(tokens token.Tokens, most int) (line int, deep bool) {
	brackets, dashes := 0, 0
	for _, t := range tokens {
		if t.Position.Line != line {
			line, dashes = t.Position.Line, 0
		}
		switch t.Type {
		case token.SequenceStartType, token.MappingStartType:
			brackets++
		case token.SequenceEndType, token.MappingEndType:
			brackets--
		case token.SequenceEntryType:
			dashes++
		}
		if brackets+dashes > most {
			return line, true
		}
	}
	return 0, false
}

// faultsOf returns the nodes of the list.
func faultsOf(file *ast.File) ([]ast.Node, error) {
	var docs []*ast.DocumentNode
	for _, d := range file.Docs {
		if d.Body != nil {
			docs = append(docs, d)
		}
	}
	if len(docs) != 1 {
		return nil, &LineError{1, fmt.Errorf("%d documents: a schedule is one", len(docs))}
	}
	var pairs []*ast.MappingValueNode
	switch body := docs[0].Body.(type) {
	case *ast.MappingNode:
		pairs = body.Values
	case *ast.MappingValueNode:
		pairs = []*ast.MappingValueNode{body}
	}
	for _, pair := range pairs {
		if key := pair.Key.String(); key != "faults" {
			return nil, &LineError{pair.Key.GetToken().Position.Line, fmt.Errorf("unknown field %q: a schedule has faults alone", key)}
		}
	}
	if len(pairs) != 1 {
		return nil, &LineError{1, errors.New(`a schedule is a list under the key "faults"`)}
	}
	switch list := pairs[0].Value.(type) {
	case *ast.SequenceNode:
		return list.Values, nil
	case *ast.NullNode:
		return nil, nil
	}
	return nil, &LineError{pairs[0].Key.GetToken().Position.Line, errors.New("faults is not a list")}
}

// lineOf returns err with the line that it names, or else with the given line.
func lineOf(err error, line int) error {
	var y yaml.Error
	if !errors.As(err, &y) {
		return &LineError{line, err}
	}
	if t := y.GetToken(); t != nil && t.Position != nil {
		line = t.Position.Line
	}
	return &LineError{line, errors.New(y.GetMessage())}
}

func (y stepYAML) step() (Step, error) {
	s := Step{Fault: y.Fault, Pick: fault.Pick{Aim: y.Aim, Draw: y.Draw, Client: y.Client, Server: fault.Server(y.Server), Links: y.Links, Params: y.Params}}
	if y.At == "" || y.Fault == "" {
		return s, errors.New("a fault needs at, when it begins, and fault, which it is")
	}
	for _, d := range []struct {
		name, text string
		to         *time.Duration
	}{{"at", y.At, &s.At}, {"for", cmp.Or(y.For, "0s"), &s.For}} {
		var err error
		if *d.to, err = time.ParseDuration(d.text); err != nil {
			return s, fmt.Errorf("%s is %q: want a duration such as 1.5s", d.name, d.text)
		}
	}
	return s, nil
}

// WriteYAML writes the schedule so that [ReadYAML] reads the same one back. Each
// line of header becomes a comment at its top.
func (s Schedule) WriteYAML(w io.Writer, header string) error {
	var b strings.Builder
	for line := range strings.Lines(header) {
		b.WriteString("# " + words.Line(strings.TrimRight(line, "\n")) + "\n")
	}
	b.WriteString("faults:\n")
	for _, step := range s.Steps {
		p := step.Pick
		text, err := yaml.MarshalWithOptions(stepYAML{
			At: step.At.String(), For: step.For.String(), Fault: step.Fault,
			Aim: p.Aim, Client: p.Client, Server: string(p.Server), Links: p.Links, Draw: p.Draw, Params: p.Params,
		}, yaml.Flow(true))
		if err != nil {
			return err
		}
		b.WriteString("  - " + string(text))
		if !strings.HasSuffix(string(text), "\n") {
			b.WriteString("\n")
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}
