package recipes

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

// Candidates that lost their terms at the same time, as when a server went down, do not come back
// at the same time.
func TestAfterALossACandidateWaitsForARandomTime(t *testing.T) {
	const longest = 10 * time.Second
	synctest.Test(t, func(t *testing.T) {
		for before, most := range map[int]time.Duration{
			0: 100 * time.Millisecond, 1: 200 * time.Millisecond, 4: 1600 * time.Millisecond, 7: longest, 20: longest, 1000: longest,
		} {
			waits := make(map[time.Duration]bool)
			for range 20 {
				began := time.Now()
				waitToCampaign(t.Context(), before, longest)
				wait := time.Since(began)
				if waits[wait] = true; wait < most/2 || wait > most {
					t.Errorf("after %d losses it waits %v, want %v to %v", before+1, wait, most/2, most)
				}
			}
			if len(waits) < 10 {
				t.Errorf("after %d losses twenty waits are of %d lengths", before+1, len(waits))
			}
		}
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		began := time.Now()
		if waitToCampaign(ended, 1000, longest); time.Since(began) != 0 {
			t.Errorf("it waits %v with a context that has ended", time.Since(began))
		}
	})
}
