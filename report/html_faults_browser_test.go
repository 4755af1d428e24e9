package report_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// manyFaults returns a run with the given number of faults in force at a time, each for a second.
func manyFaults(t *testing.T, atATime int) (histories.Header, eventSeq) {
	t.Helper()
	header, _ := twoHolders(t)
	var events []histories.Event
	every := time.Second / time.Duration(atATime)
	type edge struct {
		at    time.Duration
		fault *histories.Fault
	}
	var open []edge
	for i := range 5 * atATime {
		now := time.Duration(i) * every
		for len(open) > 0 && open[0].at <= now {
			events = append(events, histories.Event{Time: open[0].at, Type: histories.FaultStop, Process: -1, Fault: open[0].fault})
			open = open[1:]
		}
		f := &histories.Fault{ID: i, Name: []string{"expire-silence", "isolate-holder-follower", "latency"}[i%3], Targets: []string{fmt.Sprintf("client %d", i%17)}}
		events = append(events, histories.Event{Time: now, Type: histories.FaultStart, Process: -1, Fault: f})
		open = append(open, edge{at: now + time.Second - time.Millisecond, fault: f})
	}
	for _, o := range open {
		events = append(events, histories.Event{Time: max(o.at, events[len(events)-1].Time), Type: histories.FaultStop, Process: -1, Fault: o.fault})
	}
	if err := histories.Validate(&histories.History{Header: header, Events: events}); err != nil {
		t.Fatal(err)
	}
	return header, each(events)
}

func TestNamesOfFaultsNeverOverprintEachOther(t *testing.T) {
	for _, atATime := range []int{1, 3, 7, 40} {
		for _, width := range []int64{1400, 400} {
			header, events := manyFaults(t, atATime)
			b := openPage(t, inFile(t, pageOf(t, header, events)), width, 900, false)
			b.apart()
			rows := map[float64]bool{}
			for _, text := range b.texts() {
				for _, name := range []string{"expire-sil", "isolate-ho", "latency"} {
					if strings.HasPrefix(text.Text, name) {
						rows[text.Y] = true
					}
				}
			}
			want := atATime
			if atATime == 40 {
				want = 0 // the rows have no room for names
			}
			if len(rows) != want && (width == 1400 || len(rows) > want) {
				t.Errorf("%d faults at a time, %d wide: names in %d rows, want %d", atATime, width, len(rows), want)
			}
			// Zooming in shows the names that the wide view left out.
			for range 4 {
				eval[any](b, `document.getElementById("zoom-in").click()`)
				b.until(`true`)
			}
			b.apart()
			b.quiet()
		}
	}
}
