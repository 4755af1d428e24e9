package workload

import (
	"context"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// recoveryGrace is the time that recovery goes on for after its bound, so that a client that
// made no progress within the bound is recorded as such.
const recoveryGrace = 100 * time.Millisecond

// slowest limits the recovery to that many times its bound, however slow the machine is.
const slowest = 8

// In the recovery a run writes once each writeEvery, and waits at most writeWithin for the
// answer.
const (
	writeEvery  = 100 * time.Millisecond
	writeWithin = time.Second
)

// boundRecovery ends the clients' patience when the bound of the recovery, which begins now, is
// over. It returns then, or as soon as all clients have recovered, with the median time of the
// run's own writes.
func (r *run) boundRecovery(recovering context.Context) (write time.Duration) {
	defer r.endPatience()
	return waitForRecovery(recovering, r.Promises.ProgressBound, r.Observer.Write)
}

// waitForRecovery waits for bound, and longer on a slow machine, measured by the time that
// writes take.
func waitForRecovery(ctx context.Context, bound time.Duration, write func(context.Context) error) time.Duration {
	began := time.Now()
	var took []time.Duration
	for {
		asked := time.Now()
		within, cancel := context.WithTimeout(ctx, writeWithin)
		err := write(within)
		timedOut := within.Err() != nil
		cancel()
		if ctx.Err() != nil {
			return median(took)
		}
		if err == nil || timedOut { // else there is no link
			took = append(took, time.Since(asked))
		}
		left := min(histories.Slowed(bound, median(took)), slowest*bound) + recoveryGrace - time.Since(began)
		if left <= 0 {
			return median(took)
		}
		select {
		case <-time.After(min(left, writeEvery)):
		case <-ctx.Done():
			return median(took)
		}
	}
}

// median returns the median of the durations, 0 if there are none.
func median(all []time.Duration) time.Duration {
	if len(all) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(all))
	return sorted[len(sorted)/2]
}
