package report

import (
	"fmt"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// The page tells, and draws, the processes that wait for a lock and do not get it, although they
// are no parties.
func TestTheStoryTellsOfThoseWhoWait(t *testing.T) {
	w := &verdict.Witness{Lock: "a", From: time.Second, To: 3 * time.Second, Waits: []verdict.Wait{{Lock: "a", Waiters: []verdict.Waiter{{Process: 7, Since: 2 * time.Second, Invoke: 5}}}}}
	s := newStory(new(histories.Header), "progress", w, time.Second)
	call := &histories.Event{Time: 2 * time.Second, Type: histories.Invoke, Process: 7, Op: histories.Acquire, Lock: "a"}
	s.step(4, call)
	if len(s.must)+len(s.steps) != 0 {
		t.Errorf("another call is told: %v, %v", s.must, s.steps)
	}
	s.step(5, call)
	if len(s.must) != 1 || len(s.steps) != 1 || s.steps[0].What != "process 7 waits for it" {
		t.Errorf("%v, %v", s.must, s.steps)
	}
}

// A story has few lines and the picture few steps: the page says how many more there are.
func TestTheStorySaysHowMuchItLeavesOut(t *testing.T) {
	w := &verdict.Witness{Lock: "a", To: 9 * time.Second}
	for i := range maxMust + 2 {
		w.Waits = append(w.Waits, verdict.Wait{Lock: "a", Waiters: []verdict.Waiter{{Process: i, Invoke: i}}})
	}
	s := newStory(new(histories.Header), "progress", w, time.Second)
	for i := range maxMust + 2 {
		s.step(i, &histories.Event{Type: histories.Invoke, Process: i, Op: histories.Acquire, Lock: "a"})
	}
	for i := range maxOther + 3 {
		s.step(100+i, &histories.Event{Type: histories.OK, Process: 99, Op: histories.Acquire, Lock: "a"})
	}
	if n := len(s.lines()); n != maxMust+maxOther || s.more != 2+3 {
		t.Errorf("%d lines and %d more", n, s.more)
	}
	if said := s.said(); said[len(said)-1] != fmt.Sprintf("not drawn: %d more events that led to it", maxMust+2-maxSteps) {
		t.Errorf("the picture says %q", said)
	}
}
