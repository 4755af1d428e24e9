package histories

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"unicode/utf8"
)

// The EDN library reads by recursion, and a Go stack that overflows cannot be
// recovered from; and what a number takes it grows with the square of its digits,
// so that one of a few million would never end. So the input is bounded before
// the library sees it.
const (
	maxNesting = 64      // brackets, in a form
	maxPrefix  = 4096    // tags, discards and such, on a line: each of them nests too
	maxWord    = 4096    // bytes of a number, symbol or keyword
	maxString  = 1 << 20 // bytes of a string
)

// lineReader hands out one line a Read, so that the line of an error is known,
// and refuses input that nests too deeply, has words that are too long, or is not
// UTF-8. Of vectors and lists at the top it hands out what they hold: the
// operations of a history that is one vector are read one by one, too.
type lineReader struct {
	r    *bufio.Reader
	line int
	rest []byte
	err  error

	around   []byte // brackets of the vectors and lists at the top that are open
	depth    int    // brackets in those
	prefixes int
	inString bool
	escaped  bool
	length   int // of the string or word so far
}

func (l *lineReader) Read(p []byte) (int, error) {
	if len(l.rest) == 0 {
		if l.err != nil {
			return 0, l.err
		}
		line, err := l.next()
		if err != nil {
			return 0, err
		}
		l.line++
		if l.err = l.scan(line); l.err != nil {
			return 0, l.err
		}
		l.rest = line
	}
	n := copy(p, l.rest)
	l.rest = l.rest[n:]
	return n, nil
}

func (l *lineReader) next() ([]byte, error) {
	var line []byte
	for {
		part, err := l.r.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxLine {
			l.line++
			l.err = fmt.Errorf("line is longer than %d bytes", maxLine)
			return nil, l.err
		}
		if err == nil || len(line) > 0 && !errors.Is(err, bufio.ErrBufferFull) {
			return line, nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return nil, err
		}
	}
}

func (l *lineReader) scan(line []byte) error {
	if !utf8.Valid(line) {
		return errNotUTF8
	}
	comment := false
	for i, c := range line {
		switch {
		case comment:
		case l.escaped:
			l.escaped = false
		case c == '\\': // in a string, or a character such as \[
			l.escaped = true
		case c == '"':
			l.inString = !l.inString
		case l.inString:
		case c == ';':
			comment = true
		case l.atTop(c):
			line[i] = ' '
		case c == '[' || c == '(' || c == '{':
			l.depth++
		case c == ']' || c == ')' || c == '}':
			l.depth = max(l.depth-1, 0)
			if l.depth <= 1 {
				l.prefixes = 0 // an operation is complete
			}
		case c == '#' || c == '^' || c == '\'' || c == '@':
			l.prefixes++
		}
		if l.depth > maxNesting || l.prefixes > maxPrefix {
			return errors.New("bad EDN: it nests too deeply for a history")
		}
		switch l.length++; {
		case comment || c == '"', !l.inString && !l.escaped && bytes.IndexByte([]byte(" \t\r\n,;()[]{}"), c) >= 0:
			l.length = 0
		case l.inString && l.length > maxString, !l.inString && l.length > maxWord:
			return errors.New("bad EDN: a string or a word is too long for a history")
		}
	}
	return nil
}

// atTop reports whether c opens or closes a vector or a list at the top. One that
// a tag or another prefix is before is left to the library.
func (l *lineReader) atTop(c byte) bool {
	if l.depth > 0 || l.prefixes > 0 {
		return false
	}
	n := len(l.around)
	switch {
	case c == '[' || c == '(':
		l.around = append(l.around, c)
	case n > 0 && (c == ']' && l.around[n-1] == '[' || c == ')' && l.around[n-1] == '('):
		l.around = l.around[:n-1]
	default:
		return false
	}
	return len(l.around) <= maxNesting
}

// unclosed reports that the input ended in a vector or list at the top.
func (l *lineReader) unclosed() error {
	if n := len(l.around); n > 0 {
		return fmt.Errorf("bad EDN: the file ends before the %q is closed that its operations are in", l.around[n-1])
	}
	return nil
}
