package workload

import (
	"time"
)

// progressEvery is the interval between calls of Config.Progress.
const progressEvery = 200 * time.Millisecond

// reportProgress calls Config.Progress until stop is closed.
func (r *run) reportProgress(stop <-chan struct{}) {
	if r.cfg.Progress == nil {
		return
	}
	t := time.NewTicker(progressEvery)
	defer t.Stop()
	for {
		select {
		case <-t.C:
			r.cfg.Progress(r.progress())
		case <-stop:
			return
		}
	}
}

func (r *run) progress() Progress {
	p := Progress{
		Duration: r.cfg.Duration,
		Ops:      r.Journal.Ops.Load(), Cycles: r.Journal.Cycles.Load(), Expired: r.expired.Load(),
		Lost: r.Journal.Lost.Load(),
	}
	p.Held, _ = r.Faults.Held()
	p.Elapsed, p.Faults = r.elapsed(), r.Faults.InForce()
	r.mu.Lock()
	defer r.mu.Unlock()
	p.Phase = r.phase
	return p
}

// elapsed returns the time since the chaos phase began; 0 before.
func (r *run) elapsed() time.Duration {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.since.IsZero() {
		return 0
	}
	return time.Since(r.since)
}
