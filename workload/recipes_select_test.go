package workload

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/lock"
)

func TestRecipesAreSelectedByName(t *testing.T) {
	all := lock.RecipesOf(ours("recipes"))
	for _, c := range []struct {
		target lock.Target
		names  []string
		want   []histories.Recipe // nil: refused
	}{
		{ours("recipes"), nil, []histories.Recipe{histories.Mutex}},
		{ours("recipes"), []string{"all"}, all},
		{ours("recipes"), []string{"barrier", "mutex", "barrier"}, []histories.Recipe{histories.Mutex, histories.Barrier}},
		{ours("recipes"), []string{"padlock"}, nil},
		{ours("plain"), []string{"all"}, []histories.Recipe{histories.Mutex}},
		{ours("plain"), []string{"mutex", "barrier"}, nil},
	} {
		got, err := SelectRecipes(c.target, c.names)
		if !reflect.DeepEqual(got, c.want) || (err == nil) != (c.want != nil) {
			t.Errorf("%s %v: got %v, %v; want %v", c.target.Name(), c.names, got, err, c.want)
		}
	}
}
