package checker

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

func TestCellsThatAreEmptyAreNamed(t *testing.T) {
	r := &Report{
		Recipes:  []RecipeUse{{Recipe: histories.Mutex}, {Recipe: histories.Barrier}},
		Meetings: []Meetings{{"down", histories.Mutex, map[State]int{Idle: 3, Holding: 0, Enqueuing: 1, Releasing: 2}}, {"down", histories.Barrier, map[State]int{Idle: 1, Waiting: 1}}},
	}
	if got := r.Unmet([]string{"down"}); !reflect.DeepEqual(got, []Unmet{{"down", histories.Mutex, Holding}}) {
		t.Errorf("of a fault that struck: %v", got)
	}
	if got := r.Unmet([]string{"bridge"}); len(got) != len(States())+2 {
		t.Errorf("of a fault that never struck: %v", got)
	}
	if got := r.Unmet(nil); got != nil {
		t.Errorf("of none: %v", got)
	}
}
