package histories

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// The limits of a form. Forms are read by recursion, and the time to read a number grows with
// the square of its digits.
const (
	maxNesting = 64   // collections, tags and discards in one another
	maxWord    = 4096 // bytes of a number, symbol, keyword or character
)

// ednReader reads EDN one form at a time, in memory proportional to the longest form. It reads
// the elements of vectors and lists at the top one by one: so the operations of a history that
// is one vector are read one by one, too.
type ednReader struct {
	r      *bufio.Reader
	line   int  // of the rune that was read last, from 1
	last   rune // the rune that was read last
	unread bool // next returns last again

	around []rune // ends of the vectors and lists at the top that are open
	bytes  int    // since the previous form
	values int    // of this form
	depth  int    // of this form
	word   []byte // scratch
	loose  int    // above 0 in a printed object, which is for people: a word there that is no value is a symbol
	failed error  // of reading the file, not of its contents

	quick ednQuick
}

// A form is nil, a bool, an int64, a *big.Int, a float64, a rune, a string, a time.Time (of
// #inst), or one of these.
type (
	keyword string // without its colon
	symbol  string
	ednMap  []ednPair // in the order of the file
	ednSet  []any
	tagged  struct {
		tag   string
		value any
	}
	ednPair struct{ key, value any }
)

var errEnds = errors.New("the file ends in the middle of it")

func newEDNReader(r io.Reader) *ednReader {
	return &ednReader{r: bufio.NewReaderSize(r, 1<<16), line: 1}
}

// operation reads the next form, at the top or in a vector or list at the top. The error is
// io.EOF at the end of the file.
func (r *ednReader) operation() (any, error) { return r.operationInto(nil) }

// operationInto is like operation. If o is not nil and the form is simple, it reads the form into
// o and returns o.
func (r *ednReader) operationInto(o *jepsenOp) (any, error) {
	r.bytes, r.values, r.depth = 0, 0, 0
	for {
		c, err := r.start()
		n := len(r.around)
		switch {
		case errors.Is(err, io.EOF) && n > 0:
			return nil, fmt.Errorf("the file ends before the %q comes that its operations are in", r.around[n-1])
		case err != nil:
			return nil, err
		case c == '[' || c == '(':
			if r.around = append(r.around, closing[c]); n == maxNesting {
				return nil, errTooDeep
			}
		case n > 0 && c == r.around[n-1]:
			r.around = r.around[:n-1]
		case o != nil && r.simple(c, o):
			return o, nil
		default:
			v, err := r.valueAt(c)
			if errors.Is(err, io.EOF) {
				err = errEnds
			}
			return v, err
		}
	}
}

var (
	closing    = map[rune]rune{'[': ']', '(': ')', '{': '}'}
	errTooDeep = errors.New("it nests too deeply for a history")
)

// next reads one rune.
func (r *ednReader) next() (rune, error) {
	if r.unread {
		r.unread = false
		return r.last, nil
	}
	c, n, err := r.r.ReadRune()
	switch {
	case err != nil:
		if !errors.Is(err, io.EOF) {
			r.failed = err
		}
		return 0, err
	case c == utf8.RuneError && n == 1:
		return 0, errNotUTF8
	case r.last == '\n':
		r.line++
	}
	r.last = c
	if r.bytes += n; r.bytes > maxLine {
		return 0, fmt.Errorf("an operation is longer than %d bytes", maxLine)
	}
	return c, nil
}

func blank(c rune) bool { return c == ',' || unicode.IsSpace(c) }

// start skips blanks, comments and discarded forms, and returns the first rune of the next form.
// After "#" the next rune has not been read yet.
func (r *ednReader) start() (rune, error) {
	for {
		c, err := r.next()
		switch {
		case err != nil:
			return 0, err
		case blank(c):
		case c == ';':
			for c != '\n' {
				if c, err = r.next(); err != nil {
					return 0, err
				}
			}
		case c == '#':
			if c, err = r.next(); err != nil {
				return 0, inForm(err)
			}
			if c != '_' {
				r.unread = true
				return '#', nil
			}
			if _, err := r.nested(r.value); err != nil {
				return 0, inForm(err)
			}
		default:
			return c, nil
		}
	}
}

// inForm turns io.EOF inside a form into the error for a file that ends too early.
func inForm(err error) error {
	if errors.Is(err, io.EOF) {
		return errEnds
	}
	return err
}

func (r *ednReader) value() (any, error) {
	c, err := r.start()
	if err != nil {
		return nil, err
	}
	return r.valueAt(c)
}

// valueAt reads the value whose first rune is c.
func (r *ednReader) valueAt(c rune) (any, error) {
	if r.values++; r.values > maxValues {
		return nil, fmt.Errorf("an operation has more than %d values", maxValues)
	}
	switch c {
	case '"':
		return r.text()
	case '\\':
		return r.character()
	case '[', '(':
		return r.nested(func() (any, error) { return r.elements(closing[c]) })
	case '{':
		return r.nested(r.pairs)
	case '#':
		return r.nested(r.dispatched)
	case ']', ')', '}':
		return nil, fmt.Errorf("there is nothing that the %q ends", c)
	}
	word, err := r.wordFrom(c)
	if err != nil {
		return nil, err
	}
	v, err := atom(word)
	if err != nil && r.loose > 0 {
		return symbol(word), nil
	}
	return v, err
}

// nested calls read one level deeper.
func (r *ednReader) nested(read func() (any, error)) (any, error) {
	if r.depth++; r.depth > maxNesting {
		return nil, errTooDeep
	}
	v, err := read()
	r.depth--
	return v, err
}

// elements reads values up to the closing bracket end.
func (r *ednReader) elements(end rune) ([]any, error) {
	all := []any{}
	for {
		c, err := r.start()
		switch {
		case err != nil:
			return nil, err
		case c == end:
			return all, nil
		}
		v, err := r.valueAt(c)
		if err != nil {
			return nil, err
		}
		all = append(all, v)
	}
}

// pairs reads a map.
func (r *ednReader) pairs() (any, error) {
	all, err := r.elements('}')
	if err != nil {
		return nil, err
	}
	if len(all)%2 != 0 {
		return nil, errors.New("a map has a key without a value")
	}
	m := make(ednMap, 0, len(all)/2)
	var keys once
	for pair := range slices.Chunk(all, 2) {
		if keys.has(pair[0]) {
			return nil, fmt.Errorf("a map has the key %.40q twice", fmt.Sprint(pair[0]))
		}
		m = append(m, ednPair{pair[0], pair[1]})
	}
	return m, nil
}

// dispatched reads a form that begins with "#": a set, a map with a namespace, a symbolic number, a
// printed object, or a value with a tag.
func (r *ednReader) dispatched() (any, error) {
	c, err := r.next()
	if err != nil {
		return nil, err
	}
	switch {
	case c == '{':
		return r.set()
	case c == '#':
		return r.symbolic()
	case c == ':':
		return r.namespaced()
	case c == '<':
		return r.unreadable()
	case !unicode.IsLetter(c):
		return nil, fmt.Errorf("no value begins with %q", "#"+string(c))
	}
	tag, err := r.wordFrom(c)
	if err != nil {
		return nil, err
	}
	if !named(tag) {
		return nil, fmt.Errorf("%.40q is no tag", tag)
	}
	if tag == "object" {
		r.loose++
		defer func() { r.loose-- }()
	}
	v, err := r.value()
	if err != nil {
		return nil, err
	}
	if tag != "inst" {
		return tagged{tag, v}, nil
	}
	at, ok := v.(string)
	if !ok {
		return nil, fmt.Errorf("#inst of a %T, not a string", v)
	}
	return time.Parse(time.RFC3339Nano, at)
}

// once remembers the values, except collections, that has was called with.
type once struct {
	few  []any
	many map[any]bool
}

// has reports whether it was called with v before.
func (o *once) has(v any) bool {
	switch v.(type) {
	case []any, ednMap, ednSet, tagged:
		return false
	}
	const few = 16
	switch {
	case o.many != nil:
		if o.many[v] {
			return true
		}
		o.many[v] = true
		return false
	case slices.Contains(o.few, v):
		return true
	}
	if o.few = append(o.few, v); len(o.few) > few {
		o.many = map[any]bool{}
		for _, v := range o.few {
			o.many[v] = true
		}
	}
	return false
}

// wordFrom reads a word whose first rune is c, up to the first rune that cannot be part of a word.
func (r *ednReader) wordFrom(c rune) (string, error) {
	r.word = utf8.AppendRune(r.word[:0], c)
	for {
		c, err := r.next()
		switch {
		case errors.Is(err, io.EOF):
			return string(r.word), nil
		case err != nil:
			return "", err
		case blank(c) || strings.ContainsRune("\"\\;()[]{}", c):
			r.unread = true
			return string(r.word), nil
		}
		if r.word = utf8.AppendRune(r.word, c); len(r.word) > maxWord {
			return "", errors.New("a word is too long for a history")
		}
	}
}
