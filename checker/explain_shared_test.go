package checker

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/histories"
)

func TestWhatSeveralMayHoldIsShrunkAndExplained(t *testing.T) {
	for _, c := range []struct {
		guarantee string
		make      func(*run)
		left      int // events
		story     []string
		fencing   string
	}{
		{ReadersAndWriters, readWrite(func(r *run) {
			r.takes(1, 3, reading, 1).gives(2, 3, reading).takes(3, 1, reading, 2).takes(4, 4, reading, 3).gives(5, 4, reading)
			r.takes(6, 2, writing, 4).gives(7, 1, reading).gives(8, 2, writing).takes(9, 3, writing, 5)
		}), 8, []string{"process 1 has a to read with token 0x2", "process 2 has a to write with token 0x4"}, "keeps no process from reading"},
		{Permits, semaphore(histories.SharedSemaphore, func(r *run) {
			r.permits(1, 3, 1, 1).back(2, 3, 1, 1).permits(3, 1, 2, 2).resize(4, 5, 4, 2, histories.OK)
			r.permits(6, 2, 1, 3).back(7, 1, 2, 2).back(8, 2, 1, 3).permits(9, 3, 1, 4)
		}), 10, []string{"process 1 has a with token 0x2, 2 permits", "process 4 has made the size of a 2", "process 2 has a with token 0x3, 1 permit"}, "no part in this"},
	} {
		r := newRun(t)
		c.make(r)
		small, err := Shrink(context.Background(), r.h, c.guarantee, nil)
		if err != nil {
			t.Fatal(err)
		}
		x, err := Explain(context.Background(), small, c.guarantee)
		if err != nil {
			t.Fatal(err)
		}
		if len(small.Events) != c.left || !strings.Contains(x.Fencing, c.fencing) {
			t.Errorf("%s: %d events are left; %s", c.guarantee, len(small.Events), x.Fencing)
		}
		for _, want := range c.story {
			if !slices.ContainsFunc(x.Story, func(l Line) bool { return l.What == want }) {
				t.Errorf("%s: the story does not say %q: %v", c.guarantee, want, x.Story)
			}
		}
	}
}

// A token decides who may write. It does not order the grants.
func TestFencingIsNotSpokenOfWhereItHasNoPart(t *testing.T) {
	said := map[string]int{}
	for file, h := range readCorpus(t) {
		guarantee := h.Header.Options["guarantee"]
		x, err := Explain(context.Background(), h, guarantee)
		if err != nil {
			continue // it is not violated
		}
		none := x.Fencing == noPart
		switch guarantee {
		case Fairness, Revocation, Barriers, Progress, NoLeak:
			said[guarantee]++
			if !none {
				t.Errorf("%s: %s", file, x.Fencing)
			}
		case MutualExclusion:
			if none {
				t.Errorf("%s: %s", file, x.Fencing)
			}
		}
	}
	if len(said) < 4 {
		t.Errorf("only of %v", said)
	}
}
