package main

import "github.com/zkverify/zkverify/workload"

// again is what a trial of the self-test was run with beyond what there are
// options for.
type again struct{ trial workload.Config }

// amend makes cfg that of the trial. A nil again leaves it as it is.
func (a *again) amend(cfg *workload.Config) {
	if a == nil {
		return
	}
	cfg.Mix, cfg.Foreign = a.trial.Mix, a.trial.Foreign
	cfg.Clients, cfg.Locks, cfg.Duration = a.trial.Clients, a.trial.Locks, a.trial.Duration
}
