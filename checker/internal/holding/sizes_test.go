package holding

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
)

func TestSizes(t *testing.T) {
	const never = facts.Forever
	for _, c := range []struct {
		name    string
		changes []SizeChange
		exact   bool
		most    []int // at 0, 1, 2, …
		settled []int // right after 0, 1, 2, …; 0: it is not
	}{
		{"no change", nil, true, []int{3, 3}, []int{3, 3}},
		{"raised when called", []SizeChange{{Size: 5, Call: 2, Ret: 4}}, true, []int{3, 3, 5, 5, 5, 5}, []int{3, 3, 0, 0, 5, 5}},
		{"lowered when returned", []SizeChange{{Size: 1, Call: 2, Ret: 4}}, true, []int{3, 3, 3, 3, 3, 1}, []int{3, 3, 0, 0, 1, 1}},
		{"raised and lowered", []SizeChange{{Size: 5, Call: 1, Ret: 2}, {Size: 2, Call: 3, Ret: 4}}, true, []int{3, 5, 5, 5, 5, 2}, []int{3, 0, 5, 0, 2, 2}},
		{"two that touch", []SizeChange{{Size: 5, Call: 1, Ret: 2}, {Size: 2, Call: 2, Ret: 4}}, false, []int{3, 5, 5, 5, 5, 5, 5}, []int{3, 0, 0, 0, 0, 0}},
		{"two at a time, and one after them", []SizeChange{{Size: 5, Call: 1, Ret: 3}, {Size: 2, Call: 2, Ret: 4}, {Size: 1, Call: 5, Ret: 6}}, false, []int{3, 5, 5, 5, 5, 5, 5, 1}, []int{3, 0, 0, 0, 0, 0, 1}},
		{"one never returned", []SizeChange{{Size: 5, Call: 1, Ret: never}, {Size: 2, Call: 2, Ret: 3}}, false, []int{3, 5, 5, 5, 5, 5}, []int{3, 0, 0, 0, 0}},
	} {
		s := newSizes(append([]SizeChange{{Size: 3, Call: -1, Ret: -1}}, c.changes...))
		if s.Exact != c.exact {
			t.Errorf("%s: exact is %v", c.name, s.Exact)
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
