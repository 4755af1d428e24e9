package workload_test

import (
	"os"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
)

// A session that takes a mutex again is granted it without a look at the queue, when the numbers of the
// transactions tell that nothing but its last release has happened in between. Here they often do:
// nothing else writes but the clients of few sessions, which come in between now and then, while the
// servers change their leader again and again.
func TestTurnsThatFollowOneAnotherWhileLeadersChange(t *testing.T) {
	if os.Getenv(ensembletest.Variable) != "real" {
		t.Skip("it takes half a minute: make test-real runs it")
	}
	_, report, h, err := record(t, t.Context(), workload.Config{
		Target: target(t, "recipes"), Clients: 6, Sessions: 3, Locks: 1, Duration: 30 * time.Second, Seed: time.Now().UnixNano(),
		Faults: []string{"kill-leader", "isolate-leader", "pause-server"},
		Mix:    cycle.Mix{Hold: 50 * time.Microsecond, Rest: 10 * time.Millisecond, Guarded: -1, Race: -1},
	})
	if err != nil {
		t.Fatal(err)
	}
	if report.Outcome() != verdict.Holds {
		t.Errorf("%v: %s", report.Outcome(), report.Reason())
	}
	follow, epochs := following(h)
	t.Logf("seed %d: %d turns followed one another, under %d leaders", h.Header.Seed, follow, epochs)
	if follow < 100 || epochs < 3 {
		t.Errorf("%d turns followed one another, under %d leaders: that is no attack", follow, epochs)
	}
}

// following counts the grants of a mutex whose node was created two transactions after the one that was
// granted before it to the same session, and the leaders under which nodes were created.
func following(h *histories.History) (turns, leaders int) {
	var last int64
	var session string
	for _, e := range h.Events {
		if e.Op != histories.Acquire || e.Type != histories.OK || e.Token.Zxid == 0 {
			continue
		}
		if e.Token.Zxid == last+2 && e.Session == session {
			turns++
		}
		if e.Token.Zxid>>32 != last>>32 {
			leaders++
		}
		last, session = e.Token.Zxid, e.Session
	}
	return turns, leaders
}
