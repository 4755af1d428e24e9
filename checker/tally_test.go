package checker

import (
	"reflect"
	"testing"
)

func TestThePaceIsToldInFigures(t *testing.T) {
	want := []Figure{
		{"seconds without a fault in force", 3, ""},
		{"operations answered in such a second, least", 0, ""},
		{"operations answered in such a second, median", 2, ""},
	}
	if got := paceFigures([]int{7, 0, 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := paceFigures(nil); got != nil {
		t.Errorf("of no history: %v", got)
	}
}
