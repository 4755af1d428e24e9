package nemesis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// param is a detail of a kind of fault that a schedule may decide. What it does
// not decide is drawn.
type param struct {
	name  string
	check func(string) error
}

// duration is a parameter such as 80ms, of at least so much.
func duration(name string, least time.Duration) param {
	return param{name, func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < least {
			return fmt.Errorf("%s is %q: want a duration of at least %v", name, s, least)
		}
		return nil
	}}
}

// number is a whole number of at least so much.
func number(name string, least int) param {
	return param{name, func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return fmt.Errorf("%s is %q: want a whole number of at least %d", name, s, least)
		}
		return nil
	}}
}

// choice is one of some words.
func choice(name string, words ...string) param {
	return param{name, func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("%s is %q: want %s", name, s, strings.Join(words, " or "))
		}
		return nil
	}}
}

// set says on record what a detail is: what the schedule says, or else what was
// drawn. It returns which.
func (s Scene) set(f *Fault, name, drawn string) string {
	if said, ok := s.params[name]; ok {
		drawn = said
	}
	if f.Params == nil {
		f.Params = make(map[string]string)
	}
	f.Params[name] = drawn
	return drawn
}

func (s Scene) setDuration(f *Fault, name string, drawn time.Duration) time.Duration {
	d, _ := time.ParseDuration(s.set(f, name, drawn.String())) // checked with the schedule
	return d
}

func (s Scene) setNumber(f *Fault, name string, drawn int) int {
	n, _ := strconv.Atoi(s.set(f, name, strconv.Itoa(drawn))) // checked with the schedule
	return n
}
