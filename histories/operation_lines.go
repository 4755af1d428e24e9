package histories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/big"
	"regexp"
	"slices"
	"strings"
)

// lines reads a file line by line.
type lines struct {
	r    *bufio.Reader
	n    int // the number of the line, from 1
	long []byte
	o    jepsenOp
}

func newLines(r io.Reader) lines { return lines{r: bufio.NewReaderSize(r, 1<<16)} }

// next returns the next line without its end. The error is io.EOF after the last line.
func (l *lines) next() ([]byte, error) {
	l.long = l.long[:0]
	for {
		part, err := l.r.ReadSlice('\n')
		l.long = append(l.long, part...)
		switch {
		case len(l.long) > maxLine:
			l.n++
			return nil, l.wrong(fmt.Errorf("line is longer than %d bytes", maxLine))
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case errors.Is(err, io.EOF) && len(l.long) == 0:
			return nil, io.EOF
		case err != nil && !errors.Is(err, io.EOF):
			return nil, &FormatError{Line: l.n + 1, Reason: err.Error(), Err: err}
		}
		l.n++
		return bytes.TrimRight(l.long, "\r\n"), nil
	}
}

func (l *lines) wrong(err error) error {
	if err == nil {
		return nil
	}
	return &FormatError{Line: l.n, Reason: err.Error()}
}

// begin returns an empty operation for the current line.
func (l *lines) begin() *jepsenOp {
	l.o.clear()
	l.o.line = l.n
	return &l.o
}

// jsonOperations reads operations that are JSON objects with Jepsen's keys.
type jsonOperations struct{ lines }

func (s *jsonOperations) next() (*jepsenOp, error) {
	for {
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, err
		case len(bytes.TrimSpace(line)) == 0:
			continue
		}
		return s.operation(line)
	}
}

func (s *jsonOperations) operation(line []byte) (*jepsenOp, error) {
	if err := withinLine(line); err != nil {
		return nil, s.wrong(err)
	}
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	fields := map[string]any{}
	if err := d.Decode(&fields); err != nil {
		return nil, s.wrong(errors.New("bad JSON: " + err.Error()))
	}
	if _, err := d.Token(); err != io.EOF {
		return nil, s.wrong(errors.New("bad JSON: more than one value on the line"))
	}
	o := s.begin()
	for name, v := range fields {
		if err := o.set(name, ofJSON(v)); err != nil {
			return nil, s.wrong(err)
		}
	}
	slices.SortFunc(o.more, func(a, b ednPair) int { return strings.Compare(word(a.key), word(b.key)) })
	return o, nil
}

// ofJSON converts a JSON value to the type that the reader of EDN returns.
func ofJSON(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return n
		}
		if n, ok := new(big.Int).SetString(v.String(), 10); ok && len(v) < maxWord {
			return n
		}
		n, _ := v.Float64()
		return n
	case []any:
		for i := range v {
			v[i] = ofJSON(v[i])
		}
	case map[string]any:
		m := make(ednMap, 0, len(v))
		for name, inner := range v {
			m = append(m, ednPair{keyword(name), ofJSON(inner)})
		}
		return m
	}
	return v
}

// logOperations reads the operations that jepsen.util logs, in history.txt or among other lines.
type logOperations struct{ lines }

// logged matches an operation in a log, after the prefix of the line: process, type, f, value, and
// an error if there is one.
var logged = regexp.MustCompile(`(?:^|[ \t])(\d+|:nemesis)\t:(invoke|ok|fail|info)\t(\S+)\t(.*)$`)

// logPrefixes matches the level in a line of a log.
var logPrefixes = regexp.MustCompile(`\b(TRACE|DEBUG|INFO|WARN|WARNING|ERROR|FATAL)\b`)

func (s *logOperations) next() (*jepsenOp, error) {
	for {
		line, err := s.lines.next()
		switch {
		case errors.Is(err, io.EOF):
			return nil, nil
		case err != nil:
			return nil, err
		}
		var parts [][]byte
		if bytes.Contains(line, []byte("\t:")) {
			parts = logged.FindSubmatch(line)
		}
		if parts != nil {
			o, err := s.operation(parts)
			return o, s.wrong(err)
		}
		if len(bytes.TrimSpace(line)) > 0 && !logPrefixes.Match(line) && s.o.err == nil {
			return nil, s.wrong(fmt.Errorf("the line is no operation: process, type, f and value with tabs between them"))
		}
	}
}

func (s *logOperations) operation(parts [][]byte) (*jepsenOp, error) {
	o := s.begin()
	texts := bytes.SplitN(parts[4], []byte("\t"), 2)
	f, err := newEDNReader(bytes.NewReader(parts[3])).value()
	if err != nil {
		return nil, fmt.Errorf("bad EDN: %w", err)
	}
	value, err := newEDNReader(bytes.NewReader(texts[0])).value()
	if err != nil {
		return nil, fmt.Errorf("bad EDN: %w", inForm(err))
	}
	var process any = keyword(nemesisName)
	if parts[1][0] != ':' {
		if process, err = number(string(parts[1])); err != nil {
			return nil, err
		}
	}
	for _, field := range []ednPair{{keyword("type"), keyword(parts[2])}, {keyword("f"), f}, {keyword("process"), process}, {keyword("value"), value}} {
		if err := o.set(word(field.key), field.value); err != nil {
			return nil, err
		}
	}
	if len(texts) == 2 {
		return o, o.set("error", string(texts[1]))
	}
	return o, nil
}
