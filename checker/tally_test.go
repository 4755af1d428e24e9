package checker

import (
	"reflect"
	"testing"

	"github.com/zkverify/zkverify/checker/verdict"
)

func TestThePaceIsToldInFigures(t *testing.T) {
	want := []verdict.Figure{
		{Name: "seconds without a fault in force", Value: 3, Unit: ""},
		{Name: "operations answered in such a second, least", Value: 0, Unit: ""},
		{Name: "operations answered in such a second, median", Value: 2, Unit: ""},
	}
	if got := paceFigures([]int{7, 0, 2}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := paceFigures(nil); got != nil {
		t.Errorf("of no history: %v", got)
	}
}
