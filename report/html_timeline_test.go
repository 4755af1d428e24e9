package report

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

func newTestTimeline(clients string, near func(from, to time.Duration) bool) *timeline {
	return newTimeline(&histories.Header{Options: map[string]string{"clients": clients}}, newTexts(), near)
}

func nowhere(from, to time.Duration) bool { return false }

// cycles makes a process wait, hold and release, again and again, a microsecond each.
func cycles(t *timeline, process, n int) (end time.Duration) {
	at := time.Duration(0)
	e := histories.Event{Process: process, Lock: "a"}
	for range n {
		for _, e.Op = range []histories.Op{histories.Acquire, histories.Release} {
			for _, e.Type = range []histories.Type{histories.Invoke, histories.OK} {
				e.Time = at
				t.step(&e)
				at += time.Microsecond
			}
		}
	}
	t.end(at)
	return at
}

func TestAClientStaysInItsLane(t *testing.T) {
	tl := newTestTimeline("3", nowhere)
	for _, p := range []int{2, 0, 1, 4, 7, 5} {
		tl.lane(p)
	}
	if got := fmt.Sprint(tl.lanes); got != "[[2 5] [0] [1 4 7]]" {
		t.Errorf("lanes %s", got)
	}
	if tl = newTestTimeline("many", nowhere); tl.lane(0) == tl.lane(3) {
		t.Error("two processes share a lane though the number of clients is unknown")
	}
}

func TestManyShortBarsAreMadeOneButNotNearAViolation(t *testing.T) {
	const kept = 3 * time.Millisecond
	tl := newTestTimeline("1", func(from, to time.Duration) bool { return to >= kept && from <= kept+100*time.Microsecond })
	end := cycles(tl, 0, 5000)
	tl.most = 600
	tl.thin()
	before := 0
	var last time.Duration
	for _, b := range tl.tracks[[2]int32{0, 0}].bars {
		switch {
		case b.kind == many:
			before += int(b.amount)
			if s := b.share(); s < 20 || s > 40 {
				t.Errorf("%d %% of it is held, not a quarter", s)
			}
			if b.to-b.from > 4*time.Millisecond {
				t.Errorf("a bar of %v, when milliseconds are enough", b.to-b.from)
			}
		default:
			before++
			if b.to < kept || b.from > kept+100*time.Microsecond {
				t.Errorf("left alone: %v to %v", b.from, b.to)
			}
		}
		if b.from < last {
			t.Errorf("out of order at %v", b.from)
		}
		last = b.from
	}
	if before != 15_000 {
		t.Errorf("%d bars are accounted for, of 15000", before)
	}
	if n := tl.bars; n > 400 {
		t.Errorf("%d bars are left", n)
	}
	if last < end-2*time.Millisecond {
		t.Errorf("the last begins at %v of %v", last, end)
	}
}

func TestALongRunStaysBelowTheLimitWhileItIsRead(t *testing.T) {
	tl := newTestTimeline("1", nowhere)
	tl.most, tl.limit = 1000, 1000
	cycles(tl, 0, 10_000)
	if tl.bars > 1000 {
		t.Errorf("%d bars", tl.bars)
	}
}

func TestTextsAreBounded(t *testing.T) {
	s := newTexts()
	for i := range 2 * maxTexts {
		s.number(fmt.Sprint("node-", i))
	}
	if len(s.list) != maxTexts {
		t.Errorf("%d texts", len(s.list))
	}
	if got := s.list[s.number("node-7")]; got != "node-7" {
		t.Errorf("an early one is %q", got)
	}
	if got := s.list[s.number("one more")]; !strings.Contains(got, "see the history") {
		t.Errorf("a late one is %q", got)
	}
	if got := clip(strings.Repeat("ä", maxText)); len(got) > maxText+len("…") || !strings.HasSuffix(got, "ä…") {
		t.Errorf("cut to %q", got)
	}
}

func TestTimesArePrintedToThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "0 ns", 999: "999 ns", 1500: "1.5 µs", 999_400: "999 µs", 999_600: "1 ms", 12_345_678: "12.3 ms", 999_600_000: "1 s", 75 * time.Second: "75 s", time.Hour: "3600 s",
	} {
		if got := took(d); got != want {
			t.Errorf("%d ns is %q, want %q", d, got, want)
		}
	}
}

func TestSlotsGrowWithTheRun(t *testing.T) {
	s := &series{width: 100 * time.Millisecond}
	for at := time.Duration(0); at < 10*time.Minute; at += 10 * time.Millisecond {
		s.add(at, time.Millisecond)
	}
	s.add(5*time.Minute, time.Second)
	if len(s.slots) > maxSlots || len(s.slots) < maxSlots/3 {
		t.Errorf("%d slots", len(s.slots))
	}
	n, most := int64(0), time.Duration(0)
	for i, slot := range s.slots {
		n += slot.took.TotalCount()
		if slot.most > most {
			most = slot.most
			if at := time.Duration(i) * s.width; most == time.Second && (at > 5*time.Minute || at+s.width <= 5*time.Minute) {
				t.Errorf("what was slow after 5 min is in the slot from %v", at)
			}
		}
	}
	if n != 60_001 || most != time.Second {
		t.Errorf("%d of 60001, at most %v", n, most)
	}
}
