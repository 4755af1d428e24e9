package report

import (
	"context"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// rowsOf returns the rows of the list of events, and the number of events that were left out.
func rowsOf(r *checker.Report, events ...histories.Event) (rows []string, unmarked int) {
	p := newPass(&histories.Header{}, r)
	if err := p.read(context.Background(), func(yield func(*histories.Event, error) bool) {
		for i := range events {
			if !yield(&events[i], nil) {
				return
			}
		}
	}); err != nil {
		panic(err)
	}
	for _, m := range p.marks {
		rows = append(rows, m.What)
	}
	return rows, p.unmarked
}

// saying is a report of its own state by the lease of process 1.
func saying(at time.Duration, token int64, valid bool, left time.Duration) histories.Event {
	return histories.Event{Time: at, Type: histories.Says, Process: 1, Lock: "a", Token: histories.Token{Zxid: token}, Saying: &histories.Saying{Asked: at, Valid: &valid, Left: &left}}
}

func told(at time.Duration, token int64, what string) histories.Event {
	return histories.Event{Time: at, Type: histories.Says, Process: 1, Lock: "a", Token: histories.Token{Zxid: token}, Saying: &histories.Saying{Asked: at, Told: what}}
}

func TestWhatALockSaysIsListedOnce(t *testing.T) {
	const s = time.Second
	violated := &checker.Report{Verdicts: []verdict.Verdict{{Guarantee: checker.AnswersAreTrue, Outcome: verdict.Violated, Witnesses: []verdict.Witness{{From: 20 * s, To: 20 * s}}}}}
	for name, c := range map[string]struct {
		events []histories.Event
		want   []string
	}{
		"the same again and again": {
			[]histories.Event{saying(1*s, 1, true, s), saying(2*s, 1, true, s), saying(3*s, 1, true, s)},
			[]string{"process 1 asks a: it is valid; it is good until 2.000000 s; and the same, but for the deadline, 2 times more until 3.000000 s"},
		},
		"something else": {
			[]histories.Event{saying(1*s, 1, true, s), saying(2*s, 1, false, 0), saying(3*s, 1, true, s)},
			[]string{"process 1 asks a: it is valid; it is good until 2.000000 s", "process 1 asks a: it is not valid; it is good until 2.000000 s", "process 1 asks a: it is valid; it is good until 4.000000 s"},
		},
		"another lease": {
			[]histories.Event{saying(1*s, 1, true, s), saying(2*s, 2, true, s)},
			[]string{"process 1 asks a: it is valid; it is good until 2.000000 s", "process 1 asks a: it is valid; it is good until 3.000000 s"},
		},
		"near a violation each": {
			[]histories.Event{saying(20*s, 1, true, s), saying(20*s+1, 1, true, s)},
			[]string{"process 1 asks a: it is valid; it is good until 21.000000 s", "process 1 asks a: it is valid; it is good until 21.000000 s"},
		},
		"an observer, of a lease": {
			[]histories.Event{told(1*s, 1, histories.ToldAcquired), told(2*s, 1, histories.ToldReleased), told(3*s, 2, histories.ToldAcquired), told(4*s, 2, histories.ToldLost)},
			[]string{"an observer of process 1 is told that its lease of a with token 0x1 was acquired, and at 2.000000 s that it was released",
				"an observer of process 1 is told that its lease of a with token 0x2 was acquired", "an observer of process 1 is told that its lease of a with token 0x2 was lost"},
		},
		"an observer, of an acquire meanwhile": {
			[]histories.Event{told(1*s, 1, histories.ToldAcquired), told(2*s, 0, histories.ToldAcquiring), told(3*s, 0, histories.ToldGaveUp), told(4*s, 1, histories.ToldReleased)},
			[]string{"an observer of process 1 is told that its lease of a with token 0x1 was acquired, and at 4.000000 s that it was released"},
		},
		"an observer, of an acquire near a violation": {
			[]histories.Event{told(20*s, 0, histories.ToldAcquiring)},
			[]string{"an observer of process 1 is told that its acquire of a contends"},
		},
		"the close of a client": {
			[]histories.Event{{Time: s, Type: histories.Closing, Process: 1}, {Time: 2 * s, Type: histories.Closed, Process: 1}},
			[]string{"process 1 closes its client, and gives back all that it holds", "process 1 has closed its client"},
		},
	} {
		if got, out := rowsOf(violated, c.events...); !slices.Equal(got, c.want) || out != 0 {
			t.Errorf("%s: %d left out,\n%s\nwant\n%s", name, out, strings.Join(got, "\n"), strings.Join(c.want, "\n"))
		}
	}
}

func TestWhatLocksSayLeavesRoomForOtherEvents(t *testing.T) {
	var events []histories.Event
	for i := range maxSayings + 100 {
		events = append(events, saying(time.Duration(i), int64(i), true, 0))
	}
	events = append(events, histories.Event{Time: time.Minute, Type: histories.Crash, Process: 1})
	rows, out := rowsOf(&checker.Report{}, events...)
	if len(rows) != maxSayings+1 || out != 100 || rows[maxSayings] != "process 1 dies without releasing" {
		t.Errorf("%d rows, the last one %q, and %d left out", len(rows), rows[len(rows)-1], out)
	}
}

// TestEveryEventThatIsListedCanBeChosen compares the page's list of sorts with the events
// in the report.
func TestEveryEventThatIsListedCanBeChosen(t *testing.T) {
	script, err := os.ReadFile("page/events.js")
	if err != nil {
		t.Fatal(err)
	}
	// The innermost lists.
	chosen := strings.Join(regexp.MustCompile(`\['[^\[\]]*'\]`).FindAllString(string(script), -1), " ")
	for _, typ := range []histories.Type{
		histories.FaultStart, histories.FaultStop, histories.ServerSeen, histories.PhaseStart, histories.Suspended, histories.Resumed, histories.Lost,
		histories.Expired, histories.Crash, histories.RevokeRequested, histories.Info, histories.CensusDone, histories.Says, histories.Closing, histories.Closed,
	} {
		if !strings.Contains(chosen, "'"+string(typ)+"'") {
			t.Errorf("events of type %s cannot be chosen", typ)
		}
	}
}
