package histories

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// atom returns the value of a word: a number, a keyword or a symbol.
func atom(word string) (any, error) {
	switch word {
	case "nil":
		return nil, nil
	case "true", "false":
		return word == "true", nil
	case "/":
		return symbol(word), nil
	}
	digits := strings.TrimLeft(word[:min(2, len(word))], "+-")
	switch first, _ := utf8.DecodeRuneInString(word); {
	case digits != "" && isDigit(digits[0]):
		return number(word)
	case first == ':':
		if name := word[1:]; named(name) && name[0] != ':' {
			return keyword(name), nil
		}
	case first == '.' && len(word) > 1 && isDigit(word[1]), first == '\'':
	case named(word):
		return symbol(word), nil
	}
	return nil, fmt.Errorf("%.40q is no value", word)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// named reports whether a word can be a name, or two names with a slash between them.
func named(word string) bool {
	slashes := strings.Count(word, "/")
	if word == "" || slashes > 1 || strings.HasPrefix(word, "/") || strings.HasSuffix(word, "/") {
		return false
	}
	return !strings.ContainsFunc(word, func(c rune) bool {
		return !unicode.IsLetter(c) && (c < '0' || c > '9') && !strings.ContainsRune("/.*+!-_?$%&=<>:#'", c)
	})
}

// number reads an integer or a float.
func number(word string) (any, error) {
	if above, below, is := strings.Cut(word, "/"); is {
		return ratio(above, below)
	}
	if !isNumber(word) {
		return nil, fmt.Errorf("%.40q is no number", word)
	}
	if digits, big := strings.CutSuffix(word, "N"); big {
		return integer(digits)
	}
	if !strings.ContainsAny(word, ".eEM") {
		n, err := strconv.ParseInt(word, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("%.40q has too many digits", word)
		}
		return n, nil
	}
	n, err := strconv.ParseFloat(strings.TrimSuffix(word, "M"), 64)
	if err != nil {
		return nil, fmt.Errorf("%.40q is too large", word)
	}
	return n, nil
}

// ratio reads a fraction.
func ratio(above, below string) (any, error) {
	if !isNumber(above) || below == "" || !isDigit(below[0]) || !isNumber(below) || strings.ContainsAny(above+below, ".eEMN") {
		return nil, fmt.Errorf("%.40q is no number", above+"/"+below)
	}
	n, ok := new(big.Rat).SetString(above + "/" + below)
	switch {
	case !ok:
		return nil, fmt.Errorf("%.40q is no number", above+"/"+below)
	case n.IsInt() && n.Num().IsInt64():
		return n.Num().Int64(), nil
	}
	return n, nil
}

// integer reads an integer of any size.
func integer(digits string) (any, error) {
	n, ok := new(big.Int).SetString(digits, 10)
	switch {
	case !ok:
		return nil, fmt.Errorf("%.40q is no number", digits)
	case n.IsInt64():
		return n.Int64(), nil
	}
	return n, nil
}

// isNumber reports whether a word is an integer, with the suffix N if it may be of any size, or
// a decimal number, with the suffix M if it is exact.
func isNumber(word string) bool {
	rest := word
	if word[0] == '+' || word[0] == '-' {
		rest = word[1:]
	}
	digits := func() int {
		n := 0
		for n < len(rest) && isDigit(rest[n]) {
			n++
		}
		rest = rest[n:]
		return n
	}
	whole := rest
	if n := digits(); n == 0 || n > 1 && whole[0] == '0' {
		return false
	}
	if rest == "N" {
		return true
	}
	if after, ok := strings.CutPrefix(rest, "."); ok {
		if rest = after; digits() == 0 {
			return false
		}
	}
	if rest != "" && (rest[0] == 'e' || rest[0] == 'E') {
		rest = rest[1:]
		if rest != "" && (rest[0] == '+' || rest[0] == '-') {
			rest = rest[1:]
		}
		if digits() == 0 {
			return false
		}
	}
	return rest == "" || rest == "M"
}

// characters are the characters that have a name.
var characters = map[string]rune{"newline": '\n', "return": '\r', "space": ' ', "tab": '\t', "formfeed": '\f'}

// character reads a character, after its backslash.
func (r *ednReader) character() (any, error) {
	c, err := r.next()
	if err != nil {
		return nil, err
	}
	if blank(c) {
		return nil, errors.New("a backslash has a blank behind it")
	}
	word, err := r.wordFrom(c)
	if err != nil {
		return nil, err
	}
	if _, n := utf8.DecodeRuneInString(word); n == len(word) {
		return c, nil
	}
	if named, ok := characters[word]; ok {
		return named, nil
	}
	if c == 'u' && len(word) == 5 {
		if n, err := strconv.ParseUint(word[1:], 16, 16); err == nil && !utf16.IsSurrogate(rune(n)) {
			return rune(n), nil
		}
	}
	return nil, fmt.Errorf("%.40q is no character", `\`+word)
}

// escapes maps the rune after a backslash in a string to the rune that it stands for.
var escapes = map[rune]rune{'b': '\b', 'f': '\f', 'n': '\n', 'r': '\r', 't': '\t', '\\': '\\', '/': '/', '"': '"'}

// text reads a string, after its first quote.
func (r *ednReader) text() (any, error) {
	text := r.word[:0]
	for {
		c, err := r.next()
		switch {
		case err != nil:
			return nil, err
		case c == '"':
			r.word = text
			return string(text), nil
		case c == '\\':
			if c, err = r.escaped(); err != nil {
				return nil, err
			}
		}
		if text = utf8.AppendRune(text, c); len(text) > maxText {
			return nil, errLongText
		}
	}
}

// escaped reads the rest of an escape in a string, after its backslash.
func (r *ednReader) escaped() (rune, error) {
	c, err := r.next()
	if err != nil {
		return 0, err
	}
	if c != 'u' {
		if meant, ok := escapes[c]; ok {
			return meant, nil
		}
		return 0, fmt.Errorf("a string has %q, which stands for nothing", `\`+string(c))
	}
	c, err = r.hex()
	if err != nil || !utf16.IsSurrogate(c) {
		return c, err
	}
	for _, want := range `\u` {
		if got, err := r.next(); err != nil || got != want {
			return 0, errors.Join(err, errHalf)
		}
	}
	low, err := r.hex()
	if err != nil {
		return 0, err
	}
	if c = utf16.DecodeRune(c, low); c == unicode.ReplacementChar {
		return 0, errHalf
	}
	return c, nil
}

// errHalf refuses half a surrogate pair: as the replacement character it could make two different
// strings equal.
var errHalf = errors.New(`a string has one half of a surrogate pair`)

// hex reads the four digits of a \u.
func (r *ednReader) hex() (rune, error) {
	n := rune(0)
	for range 4 {
		c, err := r.next()
		if err != nil {
			return 0, err
		}
		digit, err := strconv.ParseUint(string(c), 16, 8)
		if err != nil {
			return 0, fmt.Errorf("a string has %q among the digits of a \\u", c)
		}
		n = n<<4 | rune(digit)
	}
	return n, nil
}

// The errors of Jepsen's operations are printed as in EDN, but without quotes.

func (k keyword) String() string { return ":" + string(k) }
func (s ednSet) String() string  { return "#{" + inner([]any(s)) + "}" }
func (t tagged) String() string  { return fmt.Sprintf("#%s %v", t.tag, t.value) }
func (p ednPair) String() string { return fmt.Sprintf("%v %v", p.key, p.value) }
func (m ednMap) String() string  { return "{" + inner([]ednPair(m)) + "}" }
func inner[T any](all []T) string {
	text := fmt.Sprint(all)
	return text[1 : len(text)-1]
}
