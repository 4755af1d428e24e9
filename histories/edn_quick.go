package histories

import "bytes"

// ednQuick reads operations of the simplest and most frequent form: a map from keywords to atoms
// and vectors of atoms. It leaves all other forms to ednReader.
type ednQuick struct {
	b     []byte
	at    int
	bad   bool
	words map[string]any // equal words share their values, and so do equal texts
	texts map[string]any
}

// peeked is the greatest length of a simple operation.
const peeked = 1 << 11

// jepsenTag is the tag that Jepsen writes before an operation.
const jepsenTag = "#jepsen.history.Op"

// simple reads an operation whose first rune is c into o. If the operation is not of the simple
// form, it reads nothing and reports false.
func (r *ednReader) simple(c rune, o *jepsenOp) bool {
	q := &r.quick
	q.b, _ = r.r.Peek(peeked)
	q.at, q.bad = 0, false
	switch {
	case c == '{':
	case c == '#' && r.last == rune(jepsenTag[1]) && bytes.HasPrefix(q.b, []byte(jepsenTag[2:]+"{")):
		q.at = len(jepsenTag) - 1
	default:
		return false
	}
	if q.words == nil {
		q.words, q.texts = map[string]any{}, map[string]any{}
	}
	o.clear()
	if !q.operation(o) {
		return false
	}
	r.line += bytes.Count(q.b[:q.at], []byte("\n"))
	r.last, r.unread = '}', false
	o.line = r.line
	r.r.Discard(q.at) //nolint:errcheck // it was peeked at
	return true
}

// operation reads a map, after its first bracket.
func (q *ednQuick) operation(o *jepsenOp) bool {
	for {
		switch q.blanks() {
		case '}':
			q.at++
			return !q.bad
		case ':':
		default:
			return false
		}
		name := q.token()
		q.blanks()
		v := q.value(0)
		if q.bad || len(name) < 2 {
			return false
		}
		shared := q.shared(q.texts, name[1:], func(s string) any { return s })
		if o.set(shared.(string), v) != nil {
			return false // ednReader reads it again, and reports the error
		}
	}
}

// blanks skips blanks and returns the next byte of a form; 0 at the end.
func (q *ednQuick) blanks() byte {
	for q.at < len(q.b) {
		switch c := q.b[q.at]; c {
		case ' ', ',', '\n', '\r', '\t':
			q.at++
		default:
			return c
		}
	}
	q.bad = true
	return 0
}

// plainRunes are the runes of the names and numbers that ednQuick reads.
var plainRunes = func() (all [256]bool) {
	for c := byte('!'); c < 0x7f; c++ {
		all[c] = c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || bytes.IndexByte([]byte("-_.?!*"), c) >= 0
	}
	return all
}()

// token reads a word.
func (q *ednQuick) token() []byte {
	begin := q.at
	for q.at++; q.at < len(q.b) && plainRunes[q.b[q.at]]; {
		q.at++
	}
	if q.at == len(q.b) || bytes.IndexByte([]byte(" ,\n\r\t]}"), q.b[q.at]) < 0 {
		q.bad = true
	}
	return q.b[begin:q.at]
}

// value reads an atom, or a vector of them.
func (q *ednQuick) value(depth int) any {
	if q.bad {
		return nil
	}
	switch c := q.b[q.at]; {
	case c == ':':
		if w := q.token(); len(w) > 1 && !isDigit(w[1]) {
			return q.shared(q.words, w[1:], func(s string) any { return keyword(s) })
		}
	case c == '"':
		return q.text()
	case isDigit(c) || c == '-':
		return q.integer()
	case c == '[' && depth < 3:
		return q.vector(depth)
	case c == 'n' || c == 't' || c == 'f':
		switch w := q.token(); string(w) {
		case "nil":
			return nil
		case "true", "false":
			return len(w) == 4
		}
	}
	q.bad = true
	return nil
}

// shared returns the value of a word: the same value as before if the word was read before.
func (q *ednQuick) shared(known map[string]any, w []byte, make func(string) any) any {
	if v, ok := known[string(w)]; ok {
		return v
	}
	s := string(w)
	v := make(s)
	if len(known) < maxShared {
		known[s] = v
	}
	return v
}

// text reads a string without escapes.
func (q *ednQuick) text() any {
	begin := q.at + 1
	for q.at = begin; q.at < len(q.b); q.at++ {
		switch c := q.b[q.at]; {
		case c == '"':
			q.at++
			return q.shared(q.texts, q.b[begin:q.at-1], func(s string) any { return s })
		case c == '\\' || c < ' ' || c >= 0x7f:
			q.bad = true
			return nil
		}
	}
	q.bad = true
	return nil
}

// integer reads a number with so few digits that it fits into 64 bits.
func (q *ednQuick) integer() any {
	w := q.token()
	digits := w
	if w[0] == '-' {
		digits = w[1:]
	}
	if len(digits) == 0 || len(digits) > 18 || digits[0] == '0' && len(digits) > 1 {
		q.bad = true
		return nil
	}
	n := int64(0)
	for _, c := range digits {
		if !isDigit(c) {
			q.bad = true
			return nil
		}
		n = 10*n + int64(c-'0')
	}
	if len(digits) < len(w) {
		n = -n
	}
	return n
}

func (q *ednQuick) vector(depth int) any {
	all := []any{}
	for q.at++; !q.bad; {
		if q.blanks() == ']' {
			q.at++
			return all
		}
		all = append(all, q.value(depth+1))
	}
	return nil
}
