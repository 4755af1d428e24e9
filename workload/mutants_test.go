package workload_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload"
)

// provocation is a run that brings a certain bug to light.
type provocation struct {
	name    string
	config  workload.Config
	targets map[string]string // the guarantee that must catch each
}

// aimed returns steps of one fault, every so often.
func aimed(fault string, aim nemesis.Aim, n int, every, length time.Duration) *nemesis.Schedule {
	s := &nemesis.Schedule{}
	for i := range n {
		s.Steps = append(s.Steps, nemesis.Step{
			At: every/4 + time.Duration(i)*every, For: length, Fault: fault, Pick: nemesis.Pick{Aim: aim, Draw: uint32(i)},
		})
	}
	return s
}

func provocations() []provocation {
	const session = time.Second
	// Patient clients that hold on when they are hit.
	stubborn := workload.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Long: -1, Hold: 50 * time.Millisecond}
	reentrant := stubborn
	reentrant.Reenter = 1
	return []provocation{
		{
			name: "the holder's session expires in silence, and the holder holds on",
			config: workload.Config{
				Clients: 4, Locks: 1, Duration: 7 * time.Second, SessionTimeout: session, Mix: stubborn,
				Schedule: aimed("expire-silence", nemesis.AtHolder, 2, 3500*time.Millisecond, 2*time.Second),
			},
			targets: map[string]string{
				"zk-lock":               checker.MutualExclusion,
				"naive":                 checker.MutualExclusion,
				"mutant-delete-by-name": checker.MutualExclusion,
			},
		},
		{
			name: "a waiter's session expires in silence",
			config: workload.Config{
				Clients: 3, Locks: 1, Duration: 7 * time.Second, SessionTimeout: session, Mix: stubborn,
				Schedule: aimed("expire-silence", nemesis.AtWaiter, 2, 3500*time.Millisecond, 2*time.Second),
			},
			targets: map[string]string{"mutant-no-session-check": checker.MutualExclusion},
		},
		{
			// The servers' syncLimit is 10 ticks of 200 ms: a follower goes on
			// answering twice as long as it takes the leader to expire a session.
			name: "the holder's follower is cut off from its peers",
			config: workload.Config{
				Clients: 8, Locks: 3, Duration: 9 * time.Second, SessionTimeout: session, Mix: stubborn,
				Schedule: aimed("isolate-holder-follower", nemesis.AtHolder, 2, 4500*time.Millisecond, 2*time.Second),
			},
			targets: map[string]string{"mutant-read-heartbeat": checker.MutualExclusion},
		},
		{
			name: "every hold re-enters",
			config: workload.Config{
				Clients: 3, Locks: 1, Duration: 2 * time.Second, Mix: reentrant, Faults: []string{"none"},
			},
			targets: map[string]string{"mutant-inner-release": checker.Reentrancy},
		},
	}
}

// Each known-bad lock is caught, by the guarantee that its bug breaks, and the
// correct mutex passes the very same schedule.
func TestKnownBadLocksAreCaughtAndTheMutexIsNot(t *testing.T) {
	provoked := make(map[string]bool)
	for _, p := range provocations() {
		for name := range p.targets {
			provoked[name] = true
		}
		t.Run(p.name, func(t *testing.T) {
			for name, guarantee := range p.targets {
				cfg := p.config
				cfg.Target, cfg.Seed = target(t, name), 1
				_, report, err := drive(t, t.Context(), cfg)
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				if !violated(report, guarantee) {
					t.Errorf("%s: %s is not violated: %s", name, guarantee, report.Reason())
				}
			}
			cfg := p.config
			cfg.Target, cfg.Seed = target(t, "recipes"), 1
			_, report, err := drive(t, t.Context(), cfg)
			if err != nil {
				t.Error(err)
			}
			if report.Outcome() == checker.Violated {
				t.Errorf("the correct mutex: %s", report.Reason())
			}
		})
	}
	for _, m := range workload.Mutants() {
		if !provoked[m.Name()] {
			t.Errorf("nothing provokes %s", m.Name())
		}
	}
}
