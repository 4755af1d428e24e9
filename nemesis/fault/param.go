package fault

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Param is a detail of a kind of fault that a schedule may decide. If the schedule does
// not, the detail is drawn.
type Param struct {
	Name  string
	Check func(string) error // returns an error for an invalid value
}

// Duration returns a parameter that is a duration such as 80ms, of at least the given length.
func Duration(name string, least time.Duration) Param {
	return Param{name, func(s string) error {
		d, err := time.ParseDuration(s)
		if err != nil || d < least {
			return fmt.Errorf("%s is %q: want a duration of at least %v", name, s, least)
		}
		return nil
	}}
}

// Number returns a parameter that is a whole number of at least the given value.
func Number(name string, least int) Param {
	return Param{name, func(s string) error {
		n, err := strconv.Atoi(s)
		if err != nil || n < least {
			return fmt.Errorf("%s is %q: want a whole number of at least %d", name, s, least)
		}
		return nil
	}}
}

// Rate returns a parameter that is a number such as 1.03, above 0 and at most the given value.
func Rate(name string, most float64) Param {
	return Param{name, func(s string) error {
		r, err := strconv.ParseFloat(s, 64)
		if err != nil || !(r > 0 && r <= most) {
			return fmt.Errorf("%s is %q: want a number above 0, at most %v", name, s, most)
		}
		return nil
	}}
}

// Choice returns a parameter that is one of the given words.
func Choice(name string, words ...string) Param {
	return Param{name, func(s string) error {
		if !slices.Contains(words, s) {
			return fmt.Errorf("%s is %q: want %s", name, s, strings.Join(words, " or "))
		}
		return nil
	}}
}

// Set records a detail of the fault: the schedule's value, or else the drawn value. It
// returns the value.
func (s Scene) Set(f *Fault, name, drawn string) string {
	if said, ok := s.Pick.Params[name]; ok {
		drawn = said
	}
	if f.Params == nil {
		f.Params = make(map[string]string)
	}
	f.Params[name] = drawn
	return drawn
}

// SetDuration is Set for a duration.
func (s Scene) SetDuration(f *Fault, name string, drawn time.Duration) time.Duration {
	d, _ := time.ParseDuration(s.Set(f, name, drawn.String())) // checked with the schedule
	return d
}

// SetNumber is Set for a whole number.
func (s Scene) SetNumber(f *Fault, name string, drawn int) int {
	n, _ := strconv.Atoi(s.Set(f, name, strconv.Itoa(drawn))) // checked with the schedule
	return n
}
