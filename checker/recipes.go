package checker

import (
	"fmt"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// every is of every recipe.
func every(histories.Recipe) bool { return true }

// guards reports whether a recipe's locks guard counters.
func guards(r histories.Recipe) bool { return r.Exclusive() || r == histories.ReadWrite }

// is returns whether a recipe is one of some.
func is(some ...histories.Recipe) func(histories.Recipe) bool {
	return func(r histories.Recipe) bool { return slices.Contains(some, r) }
}

// notJudged says that nobody judges a guarantee yet, which is not to be taken
// for a pass.
func notJudged(guarantee string, recipes ...histories.Recipe) func(*check, *trace) Verdict {
	return func(_ *check, t *trace) Verdict {
		n := 0
		for _, o := range t.ops {
			if slices.Contains(recipes, t.recipe(o.lock)) {
				n++
			}
		}
		v := Verdict{Guarantee: guarantee, Outcome: NotJudged, Promised: true, Expected: true}
		v.Reason = plural(n, "operation") + " on record, which this checker cannot judge"
		return v
	}
}

func (t *trace) recipe(lock string) histories.Recipe { return t.h.Header.RecipeOf(lock) }

// recipes returns those of the run, in their order.
func (t *trace) recipes() []histories.Recipe {
	seen := map[histories.Recipe]bool{}
	for lock := range t.h.Header.Locks {
		seen[t.recipe(lock)] = true
	}
	if len(seen) == 0 {
		seen[t.recipe("")] = true // one for all
	}
	return slices.DeleteFunc(histories.Recipes(), func(r histories.Recipe) bool { return !seen[r] })
}

// exclusive returns the locks that have one holder at a time.
func (t *trace) exclusive() []string {
	return slices.DeleteFunc(slices.Clone(t.locks), func(lock string) bool { return !t.recipe(lock).Exclusive() })
}

// exclusiveHolds returns their holds.
func (t *trace) exclusiveHolds() []*hold {
	return slices.DeleteFunc(slices.Clone(t.holds), func(h *hold) bool { return !t.recipe(h.lock).Exclusive() })
}

// partly notes of which recipes a verdict on fairness says nothing, although
// their places are on record.
func (t *trace) partly(verdicts []Verdict) []string {
	left := map[histories.Recipe]bool{}
	for _, o := range t.ops {
		if o.acquires() && len(o.places) > 0 && !t.ordered(o) {
			left[t.recipe(o.lock)] = true
		}
	}
	var notes []string
	for i := range verdicts {
		if v := &verdicts[i]; v.Guarantee == Fairness && v.Promised && v.Outcome != NotJudged {
			for _, r := range histories.Recipes() {
				if left[r] {
					notes = append(notes, fmt.Sprintf("%s was not judged of %s", v.Guarantee, r))
				}
			}
		}
	}
	return notes
}

// RecipeUse says how much one recipe was used.
type RecipeUse struct {
	Recipe     histories.Recipe `json:"recipe"`
	Locks      int              `json:"locks"`
	Operations int              `json:"operations"`
	Got        int              `json:"got"`     // times that a lock was acquired, or a barrier passed
	Held       int              `json:"held"`    // leases held when a fault began that hit their holder
	Awaited    int              `json:"awaited"` // acquires, and waits at a barrier, under way when such a fault began
}

// uses returns how much each recipe of the run was used.
func (t *trace) uses() []RecipeUse {
	uses := map[histories.Recipe]*RecipeUse{}
	for _, r := range t.recipes() {
		uses[r] = &RecipeUse{Recipe: r}
	}
	for _, lock := range t.locks {
		uses[t.recipe(lock)].Locks++
	}
	for _, o := range t.ops {
		u := uses[t.recipe(o.lock)]
		if o.part > 0 {
			continue // the first stands for all
		}
		u.Operations++
		if o.progresses() && o.ok() {
			u.Got++
		}
		if o.acquires() || o.passes() {
			u.Awaited += t.strikes(o.process, o.invoke, o.done)
		}
	}
	for _, h := range t.holds {
		if h.acquire.part == 0 {
			uses[t.recipe(h.lock)].Held += t.strikes(h.process, h.acquire.done, h.endEvent)
		}
	}
	var out []RecipeUse
	for _, r := range t.recipes() {
		out = append(out, *uses[r])
	}
	return out
}

// strikes counts the faults that hit a process and began between two events; to
// is -1 when the second never came.
func (t *trace) strikes(process, from, to int) int {
	i, _ := slices.BinarySearchFunc(t.faults, from, func(f *faultSpan, event int) int { return f.event - event })
	n := 0
	for ; i < len(t.faults) && (to < 0 || t.faults[i].event < to); i++ {
		if f := t.faults[i]; f.hits(process) && !t.goneBy(process, f) {
			n++
		}
	}
	return n
}
