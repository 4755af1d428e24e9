package nemesis

import (
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// countingWorld counts recorded events, and the looks at its clients.
type countingWorld struct {
	*fakeWorld
	recorded, looks atomic.Int64
}

func (w *countingWorld) Recorded() int { return int(w.recorded.Load()) }

func (w *countingWorld) Clients() []fault.Client {
	w.looks.Add(1)
	return w.fakeWorld.Clients()
}

func (w *countingWorld) holds(client int) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clients[client].States = []states.State{states.Holding}
}

// A step looks again as soon as an event is recorded, and seldom while none is: a state that is
// not recorded, such as that of a link, may have changed.
func TestAStepLooksAgainWhenThereIsNews(t *testing.T) {
	for name, c := range map[string]struct {
		onRecord bool
		within   time.Duration
	}{
		"on record": {true, glance}, "not on record": {false, quiet + glance},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := &countingWorld{fakeWorld: newWorld(fault.Client{Linked: 1}, fault.Client{Linked: 1})}
				begins := patience/2 + time.Millisecond
				time.AfterFunc(begins, func() {
					w.holds(1)
					if c.onRecord {
						w.recorded.Add(1)
					}
				})
				report, err := Run(t.Context(), w, faults.List(), Schedule{[]Step{{Fault: "down", Pick: fault.Pick{Aim: fault.AtHolder}}}}, w)
				if err != nil || len(report.Looked) != 1 {
					t.Fatalf("%v: %+v", err, report)
				}
				if late := report.Looked[0] - begins; late < 0 || late > c.within {
					t.Errorf("found %v after it held, want within %v", late, c.within)
				}
				if looks, most := w.looks.Load(), int64(patience/2/quiet)+8; looks > most {
					t.Errorf("%d looks, want at most %d", looks, most)
				}
			})
		})
	}
}
