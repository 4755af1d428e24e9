package drawn

import (
	"testing"

	"pgregory.net/rapid"

	"github.com/zkverify/zkverify/histories"
)

// Agreement counts the histories on which the engines of one kind of lock were compared.
type Agreement struct {
	Histories, Judged, Illegal, Cuts, Brute, Undecided int
}

// Same compares the result of the sweep with Porcupine, uncut, cut now and then, and cut
// wherever it can be, and with brute force, which begins with x.
func (a *Agreement) Same(t *rapid.T, h *histories.History, lock string, found bool, illegal func(size int) bool, brute []Op, x int) {
	a.Judged++
	if found {
		a.Illegal++
	}
	if len(brute) <= MaxOps {
		a.Brute++
		if AnyOrder(brute, x) == found {
			t.Fatalf("of %s the sweep found a violation: %v; trying every order says otherwise\n%s", lock, found, Text(h))
		}
	}
	for _, size := range []int{1 << 30, 8, 1} {
		if got := illegal(size); got != found {
			t.Fatalf("of %s, cut every %d operations, Porcupine finds it illegal: %v; the sweep found a violation: %v\n%s", lock, size, got, found, Text(h))
		}
	}
}

// Agree draws histories of the families that have locks of some recipes, and has the engines
// judge each such lock.
func Agree(t *testing.T, some func(histories.Recipe) bool, judge func(t *rapid.T, a *Agreement, h *histories.History)) {
	for _, f := range Families {
		if !anyOf(f.Recipes, some) {
			continue
		}
		t.Run(f.Name, func(t *testing.T) {
			a := &Agreement{}
			Checks(t, 10_000, func(t *rapid.T) {
				h := History(t, f.Recipes...)
				if err := histories.Validate(h); err != nil {
					t.Fatalf("what was drawn is no history: %v", err)
				}
				a.Histories++
				judge(t, a, h)
			})
			t.Logf("%+v", *a)
			if mixed := anyOf(f.Recipes, func(r histories.Recipe) bool { return !some(r) }); mixed {
				return // few histories may have these locks
			}
			if a.Judged < 3000 {
				return // too few to judge the shares
			}
			if a.Illegal < a.Judged/100 || a.Illegal > a.Judged*9/10 || a.Cuts < a.Judged/3 || a.Brute < a.Judged/10 {
				t.Errorf("the histories are lopsided: %+v", *a)
			}
		})
	}
}

func anyOf(recipes []histories.Recipe, some func(histories.Recipe) bool) bool {
	for _, r := range recipes {
		if some(r) {
			return true
		}
	}
	return false
}
