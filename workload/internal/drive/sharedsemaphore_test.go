package drive

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/cycle"
)

// With seed 1, a client that was killed had left the size at one, and all six clients waited
// without end for two permits: a correct semaphore was accused of no progress.
func TestWhoAsksForTwoPermitsDoesNotWaitForEver(t *testing.T) {
	waits := cycle.Plan{Way: cycle.Wait, Patience: time.Millisecond}
	if p := bounded(waits, 2, 2*time.Second); p.Way != cycle.Timeout || p.Patience != 2*time.Second {
		t.Errorf("who asks for two: %+v", p)
	}
	if p := bounded(waits, 1, 2*time.Second); p.Way != cycle.Wait {
		t.Errorf("who asks for one: %+v", p)
	}
}
