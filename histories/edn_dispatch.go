package histories

import (
	"errors"
	"fmt"
	"math"
	"strings"
)

// set reads a set, after its first bracket.
func (r *ednReader) set() (any, error) {
	all, err := r.elements('}')
	if err != nil {
		return nil, err
	}
	var values once
	for _, v := range all {
		if values.has(v) {
			return nil, fmt.Errorf("a set has %.40q twice", fmt.Sprint(v))
		}
	}
	return ednSet(all), nil
}

// symbolic reads a number that has no digits, such as ##Inf, after "##".
func (r *ednReader) symbolic() (any, error) {
	c, err := r.next()
	if err != nil {
		return nil, err
	}
	word, err := r.wordFrom(c)
	if err != nil {
		return nil, err
	}
	switch word {
	case "Inf":
		return math.Inf(1), nil
	case "-Inf":
		return math.Inf(-1), nil
	case "NaN":
		return math.NaN(), nil
	}
	return nil, fmt.Errorf("%.40q is no number", "##"+word)
}

// namespaced reads a map with one namespace for its keys, after "#:".
func (r *ednReader) namespaced() (any, error) {
	space := ""
	c, err := r.next()
	if err == nil && c == ':' {
		c, err = r.next()
	}
	if err == nil && c != '{' && !blank(c) {
		if space, err = r.wordFrom(c); err == nil {
			c, err = r.start()
		}
	}
	switch {
	case err != nil:
		return nil, err
	case c != '{' || space != "" && !named(space) || strings.Contains(space, "/"):
		return nil, errors.New("a namespace is not before a map")
	}
	v, err := r.pairs()
	if err != nil || space == "" {
		return v, err
	}
	all := v.(ednMap)
	for i, p := range all {
		if k, is := p.key.(keyword); is && !strings.Contains(string(k), "/") {
			all[i].key = keyword(space + "/" + string(k))
		}
	}
	return all, nil
}

// unreadable reads an object as old versions of Clojure print it, after "#<".
func (r *ednReader) unreadable() (any, error) {
	text := r.word[:0]
	for open := 1; ; {
		c, err := r.next()
		if err != nil {
			return nil, err
		}
		switch c {
		case '<':
			open++
		case '>':
			open--
		}
		if open == 0 {
			r.word = text
			return tagged{"object", string(text)}, nil
		}
		if text = append(text, string(c)...); len(text) > maxWord {
			return nil, errors.New("a word is too long for a history")
		}
	}
}
