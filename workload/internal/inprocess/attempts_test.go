package inprocess

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func TestAttemptsAreCountedByWindow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := attempts{window: time.Second}
		if got := a.counted(); got != (histories.Connects{}) {
			t.Errorf("before the first: %+v", got)
		}
		for range 5 { // one window after the other
			a.note(time.Now())
			time.Sleep(time.Second)
		}
		if got := a.counted(); got.Attempts != 5 || got.Most != 1 {
			t.Errorf("got %+v", got)
		}
		for range 3 {
			a.note(time.Now())
			time.Sleep(400 * time.Millisecond)
		}
		time.Sleep(10 * time.Second)
		for range 2 {
			a.note(time.Now())
		}
		if got := a.counted(); got.Attempts != 10 || got.Most != 3 || got.Ago != 11200*time.Millisecond {
			t.Errorf("got %+v", got)
		}
	})
}
