package facts

import (
	"testing"

	"github.com/zkverify/zkverify/histories"
)

// A client that crashes under a fault goes on as another process, which the start of the fault
// does not name.
func TestAFaultReachesTheNextProcessesOfItsClients(t *testing.T) {
	for clients, want := range map[int]map[int]bool{
		20: {40: true, 50: true, 60: true, 90: true, 30: false, 20: false, 61: false},
		0:  {40: true, 50: true, 60: false, 90: false},
	} {
		l := newFaultLog(&histories.Header{Clients: clients})
		l.begin(1, &histories.Event{Type: histories.FaultStart, Fault: &histories.Fault{ID: 1, Name: "down", Processes: []int{40, 50}}})
		for process, reaches := range want {
			if got := l.All[0].Reaches(process); got != reaches {
				t.Errorf("%d clients: it reaches process %d: %v", clients, process, got)
			}
		}
	}
}

// A pause that waits for a message takes effect after its start.
func TestAPauseStrikesTheNextProcessOfItsClients(t *testing.T) {
	l := newFaultLog(&histories.Header{Clients: 22})
	l.begin(1, &histories.Event{Type: histories.FaultStart, Time: 10, Fault: &histories.Fault{ID: 1, Name: "pause-worker", Processes: []int{0, 11}}})
	for process, want := range map[int]int{0: 1, 11: 1, 33: 1, 44: 1, 12: 0, 34: 0} {
		if got := l.PausedIn(process, 20, 30); len(got) != want {
			t.Errorf("process %d was paused %d times, want %d", process, len(got), want)
		}
	}
}

// The client's next process may still use the session that is about to end.
func TestAForcedExpiryStrikesWhoeverHasTheSession(t *testing.T) {
	l := newFaultLog(&histories.Header{Clients: 20})
	l.begin(1, &histories.Event{Type: histories.FaultStart, Time: 10, Fault: &histories.Fault{
		ID: 1, Name: histories.ForcedExpiry, Processes: []int{0}, Params: map[string]string{"session": "s1"}}})
	for _, c := range []struct {
		process int
		session string
		want    int
	}{{0, "s1", 1}, {20, "s1", 1}, {20, "s2", 0}, {20, "", 0}, {1, "s2", 0}} {
		if got := l.Excusing(c.process, c.session, 5, 20); len(got) != c.want {
			t.Errorf("process %d in session %q is excused by %d faults", c.process, c.session, len(got))
		}
	}
}
