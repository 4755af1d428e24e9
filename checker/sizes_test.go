package checker

import (
	"testing"
	"time"
)

func TestSizes(t *testing.T) {
	const never = forever
	for _, c := range []struct {
		name    string
		changes []sizeChange
		exact   bool
		most    []int // at 0, 1, 2, …
		settled []int // right after 0, 1, 2, …; 0: it is not
	}{
		{"no change", nil, true, []int{3, 3}, []int{3, 3}},
		{"raised when called", []sizeChange{{size: 5, call: 2, ret: 4}}, true, []int{3, 3, 5, 5, 5, 5}, []int{3, 3, 0, 0, 5, 5}},
		{"lowered when returned", []sizeChange{{size: 1, call: 2, ret: 4}}, true, []int{3, 3, 3, 3, 3, 1}, []int{3, 3, 0, 0, 1, 1}},
		{"raised and lowered", []sizeChange{{size: 5, call: 1, ret: 2}, {size: 2, call: 3, ret: 4}}, true, []int{3, 5, 5, 5, 5, 2}, []int{3, 0, 5, 0, 2, 2}},
		{"two that touch", []sizeChange{{size: 5, call: 1, ret: 2}, {size: 2, call: 2, ret: 4}}, false, []int{3, 5, 5, 5, 5, 5, 5}, []int{3, 0, 0, 0, 0, 0}},
		{"two at a time, and one after them", []sizeChange{{size: 5, call: 1, ret: 3}, {size: 2, call: 2, ret: 4}, {size: 1, call: 5, ret: 6}}, false, []int{3, 5, 5, 5, 5, 5, 5, 1}, []int{3, 0, 0, 0, 0, 0, 1}},
		{"one never returned", []sizeChange{{size: 5, call: 1, ret: never}, {size: 2, call: 2, ret: 3}}, false, []int{3, 5, 5, 5, 5, 5}, []int{3, 0, 0, 0, 0}},
	} {
		s := newSizes(append([]sizeChange{{size: 3, call: -1, ret: -1}}, c.changes...))
		if s.exact != c.exact {
			t.Errorf("%s: exact is %v", c.name, s.exact)
		}
		for at, want := range c.most {
			if got := s.most(time.Duration(at)); got != want {
				t.Errorf("%s: at %d the size is %d at most, want %d", c.name, at, got, want)
			}
		}
		for at, want := range c.settled {
			if got, _, _ := s.settled(time.Duration(at)); got != want {
				t.Errorf("%s: after %d the size is %d, want %d", c.name, at, got, want)
			}
		}
	}
}
