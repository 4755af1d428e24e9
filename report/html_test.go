package report_test

import (
	"bytes"
	"context"
	"errors"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/report"
)

type eventSeq = iter.Seq2[*histories.Event, error]

// pageOf judges a history and returns its page.
func pageOf(t *testing.T, header histories.Header, events eventSeq) string {
	t.Helper()
	r, err := checker.CheckEvents(context.Background(), header, events, checker.WithEngine(checker.Interval))
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := report.HTML(t.Context(), &b, "runs/some", header, events, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inFile writes a page into a file.
func inFile(t *testing.T, page string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "report.html")
	if err := os.WriteFile(path, []byte(page), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

func each(events []histories.Event) eventSeq {
	return func(yield func(*histories.Event, error) bool) {
		for i := range events {
			if !yield(&events[i], nil) {
				return
			}
		}
	}
}

// token has more bits than a script's number.
var token = histories.Token{Zxid: 0x1234567890abcdef, Sub: 5}

// twoHolders returns a short run in which two clients hold a lock. It has a lease that is
// suspended, lost and released, a hold that is acquired again, and an acquire that fails.
func twoHolders(t *testing.T) (histories.Header, eventSeq) {
	t.Helper()
	header := histories.Header{
		Version: histories.Version, Started: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC), Seed: 42, Recipe: "mutex", Target: "broken",
		Promises: histories.Promises{Tokens: true, TellsLoss: true, Reentrant: true, LossBound: time.Second, ProgressBound: time.Second},
		Locks:    map[string]histories.Lock{"orders": {Recipe: histories.Mutex}, "stock": {Recipe: histories.Mutex}},
		Options:  map[string]string{"clients": "3", "duration": "1s", "target": "broken", "faults": "down,black hole", "NOT A FLAG": "x"},
		Ensemble: "local", Servers: 3, ZooKeeper: "3.8.0", SessionTimeout: 2 * time.Second, TickTime: 200 * time.Millisecond,
	}
	ms := time.Millisecond
	down := &histories.Fault{ID: 1, Name: "down", Targets: []string{"client 1"}, Processes: []int{1}, Params: map[string]string{"for": "90ms"}}
	op := func(at time.Duration, typ histories.Type, process int, op histories.Op, lock string) histories.Event {
		return histories.Event{Time: at, Type: typ, Process: process, Op: op, Lock: lock, Owner: "owner " + string(rune('A'+process%3)), Session: "0x" + strings.Repeat("0", 14) + "a" + string(rune('0'+process))}
	}
	with := func(e histories.Event, change func(*histories.Event)) histories.Event {
		change(&e)
		return e
	}
	depth := func(token histories.Token, depth int) func(*histories.Event) {
		return func(e *histories.Event) { e.Token, e.Depth = token, depth }
	}
	later := histories.Token{Zxid: token.Zxid + 1}
	events := []histories.Event{
		{Time: 1 * ms, Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseChaos},
		op(100*ms, histories.Invoke, 1, histories.Acquire, "orders"),
		with(op(101*ms, histories.Enqueued, 1, "", "orders"), func(e *histories.Event) { e.Token = token }),
		with(op(110*ms, histories.OK, 1, histories.Acquire, "orders"), depth(token, 1)),
		op(120*ms, histories.Invoke, 1, histories.Acquire, "orders"),
		with(op(121*ms, histories.OK, 1, histories.Acquire, "orders"), depth(token, 2)),
		op(130*ms, histories.Invoke, 0, histories.TryAcquire, "orders"),
		with(op(150*ms, histories.Fail, 0, histories.TryAcquire, "orders"), func(e *histories.Event) { e.Error = "somebody is ahead" }),
		with(op(160*ms, histories.Invoke, 1, histories.Release, "orders"), depth(token, 2)),
		with(op(161*ms, histories.OK, 1, histories.Release, "orders"), depth(token, 2)),
		op(190*ms, histories.Invoke, 2, histories.Acquire, "orders"),
		{Time: 200 * ms, Type: histories.FaultStart, Process: -1, Fault: down},
		with(op(210*ms, histories.Suspended, 1, "", "orders"), depth(token, 0)),
		with(op(250*ms, histories.OK, 2, histories.Acquire, "orders"), depth(later, 1)),
		{Time: 290 * ms, Type: histories.FaultStop, Process: -1, Fault: down},
		{Time: 295 * ms, Type: histories.Expired, Process: -1, Session: "0x00000000000000a1"},
		with(op(300*ms, histories.Lost, 1, "", "orders"), depth(token, 0)),
		with(op(330*ms, histories.Invoke, 1, histories.Release, "orders"), depth(token, 1)),
		with(op(335*ms, histories.Info, 1, histories.Release, "orders"), func(e *histories.Event) { depth(token, 1)(e); e.Error = "no session" }),
		with(op(400*ms, histories.Invoke, 2, histories.Release, "orders"), depth(later, 1)),
		with(op(402*ms, histories.OK, 2, histories.Release, "orders"), depth(later, 1)),
		op(500*ms, histories.Invoke, 4, histories.Acquire, "stock"), // the client that was process 1
		with(op(510*ms, histories.OK, 4, histories.Acquire, "stock"), depth(histories.Token{Zxid: token.Zxid + 2}, 1)),
		{Time: 700 * ms, Type: histories.PhaseStart, Process: -1, Phase: histories.PhaseRecovery},
		op(710*ms, histories.Invoke, 0, histories.Acquire, "stock"),
		{Time: 1000 * ms, Type: histories.Crash, Process: 4, Lock: "stock"},
	}
	if err := histories.Validate(&histories.History{Header: header, Events: events}); err != nil {
		t.Fatal(err)
	}
	return header, each(events)
}

// words is a page without its marks, script and data.
func words(page string) string {
	page = page[strings.Index(page, "<body>"):strings.Index(page, `<script type="application`)]
	page = regexp.MustCompile(`<[^>]*>`).ReplaceAllString(page, " ")
	for from, to := range map[string]string{"&#34;": `"`, "&#39;": "'", "&amp;": "&", "&lt;": "<", "&gt;": ">", "&#43;": "+"} {
		page = strings.ReplaceAll(page, from, to)
	}
	return strings.Join(strings.Fields(page), " ")
}

func TestAPageTellsWhatItCanWithoutAScript(t *testing.T) {
	header, events := twoHolders(t)
	text := words(pageOf(t, header, events))
	for _, want := range []string{
		"✗ violated broken",
		"mutual exclusion: two owners held one lock at the same time, once; exclusion broken, fencing would have protected",
		"recipes mutex seed 42 length 1 s events 26 clients 3, as 4 processes one after the other faults 1 ZooKeeper 3.8.0, 3 servers (local)",
		"no two owners believe at the same time to hold one lock ✗ violated",
		"holds: 3 overlaps: 1",
		`1. mutual exclusion: process 1 (owner owner B) and process 2 (owner owner C) both held lock "orders" from 0.250000 s to 0.300000 s`,
		"A store behind the fence takes 0x1234567890abcdf0 from process 2",
		"down on client 1, from 0.200000 s to 0.290000 s",
		"0.110000 s process 1 has orders with token 0x1234567890abcdef/5 5",
		"0.200000 s fault down on client 1 begins 13",
		"0.210000 s process 1 is told that its lease of orders is suspended: the link is down 14",
		"0.250000 s process 2 has orders with token 0x1234567890abcdf0 15",
		"0.300000 s process 1 is told that it has lost orders 18",
		"operation went well failed no answer p50 p90 p99 max acquire 4 0 0 10 ms 60",
		"release 2 0 1 1 ms 2 ms 2 ms 2 ms",
		"try-acquire 0 1 0 – – – –",
		"fault starts idle enqueuing waiting holding releasing down 1 · · · 1 ·",
		"by what they were doing. 4 combinations did not occur",
		"once for each fault. 4 combinations did not occur: the run shows nothing of that. fault idle enqueuing waiting holding releasing down · · · 1 ·",
		"– not promised by the target, and not judged: fairness; no lost update, guarded",
		"zkverify replay runs/some",
		"zkverify check runs/some",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q", want)
		}
	}
	if t.Failed() {
		t.Log(text)
	}
	if strings.Contains(text, "NOT A FLAG") {
		t.Error("what is no flag is in the command line")
	}
}

func TestAPageIsWholeWhenNothingHappened(t *testing.T) {
	text := words(pageOf(t, histories.Header{Version: 1, Target: "none"}, each(nil)))
	for _, want := range []string{"No operation was answered.", "No fault started.", "events 0"} {
		if !strings.Contains(text, want) {
			t.Errorf("does not say %q in %s", want, text)
		}
	}
	if strings.Contains(text, "zkverify run") {
		t.Error("it gives a command to run again a history that no run has made")
	}
}

func TestAnErrorAmongTheEventsIsReturned(t *testing.T) {
	bad := errors.New("line 7 is bad")
	err := report.HTML(t.Context(), &bytes.Buffer{}, "x", histories.Header{}, func(yield func(*histories.Event, error) bool) { yield(&histories.Event{}, bad) }, &checker.Report{})
	if !errors.Is(err, bad) {
		t.Errorf("got %v", err)
	}
}

func TestAPageThatCannotBeWrittenIsAnError(t *testing.T) {
	header, events := twoHolders(t)
	if err := report.HTML(t.Context(), full{}, "x", header, events, &checker.Report{}); err == nil {
		t.Error("no error")
	}
}
