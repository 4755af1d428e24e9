package simulation

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/nemesis"
	model "github.com/zkverify/zkverify/spec"
	"github.com/zkverify/zkverify/workload/folder"
)

// Outcome is the result of a run.
type Outcome struct {
	Spec    Spec            `json:"spec"`
	Outcome verdict.Outcome `json:"outcome"`
	Reason  string          `json:"reason,omitempty"`
	// Violated names the guarantees that are violated, in the order of the report.
	Violated []string `json:"violated,omitempty"`
	// By is the instant at which the first violation of the first of them is complete.
	By time.Duration `json:"by,omitempty"`
	// Trouble is the error of the run itself; the history until then was still judged.
	Trouble string `json:"trouble,omitempty"`
	// Hash is the hash of all messages between clients and servers, and of their times.
	Hash string `json:"hash"`
	// Exact says that the Go runtime of the process was seeded: the same Spec makes the same
	// run again.
	Exact    bool          `json:"exact"`
	Messages int           `json:"messages"`
	Ops      int64         `json:"operations"`
	Cycles   int64         `json:"cycles"`
	Struck   int           `json:"faults"`
	Virtual  time.Duration `json:"virtual"` // duration of the run in virtual time
	CPU      time.Duration `json:"cpu"`     // of its process, judging included
	// Schedule has the faults, as they were drawn or asked for.
	Schedule nemesis.Schedule `json:"schedule"`
	// Choices is the number of times that the plan orders has chosen the next message.
	Choices int `json:"choices,omitempty"`
	// Coverage has the states that the faults have met.
	Coverage Met `json:"coverage,omitzero"`
	// Placements has the placements that the plan edges has tried, or the paths of the plan spec, and whether each took place.
	Placements map[string]bool `json:"placements,omitempty"`
	// Made is Fleet.Made of the run.
	Made string `json:"made,omitempty"`
	// Chosen names the parts of the Spec that a sweep has chosen: "faults", "recipes", "plan".
	Chosen []string `json:"chosen,omitempty"`
	// Sought names the situation that the sweep has chosen them for, if there is one.
	Sought string `json:"sought,omitempty"`
	// Model is the outcome of the validation by spec/mutex.pml, if it was asked for.
	Model *model.Validated `json:"model,omitempty"`
}

// Differs reports whether the model of the mutex cannot do what the run has done.
func (o Outcome) Differs() bool { return o.Model != nil && len(o.Model.Differs) > 0 }

// Passed reports whether no file of the run needs to be kept.
func (o Outcome) Passed() bool {
	return o.Trouble == "" && !o.Differs() && (o.Outcome == verdict.Holds || o.Outcome == verdict.NotExercised)
}

// Run carries out a run in a bubble and judges it. Unless the run passes, its folder, which
// exists, gets the history and the report, as that of any run. t is a test outside of any
// bubble. It returns an error for a Spec that cannot be carried out, or a file that cannot be
// written.
func Run(t *testing.T, dir string, s Spec, look Look) (Outcome, error) {
	w, err := s.world()
	if err != nil {
		return Outcome{}, err
	}
	trace := &trace{hash: sha256.New(), branch: look.Branch}
	var done folder.Recorded
	var kept *histories.Kept // not in a file: most runs pass, and a tenth of their time would go into it
	var runErr error
	synctest.Test(t, func(t *testing.T) { done, kept, runErr = w.record(t.Context(), s, look.Until, trace) })
	if look.Trace {
		if err := trace.write(filepath.Join(dir, TraceFile), kept); err != nil {
			return Outcome{}, err
		}
	}
	o := Outcome{
		Spec: s, Exact: seeded.Exact(), Hash: trace.sum(), Messages: trace.count, Ops: done.Ops, Cycles: done.Cycles, Struck: done.Nemesis.Struck, Virtual: done.Took,
		Schedule: done.Schedule, Choices: trace.chosen,
	}
	if runErr != nil {
		o.Trouble = runErr.Error()
	}
	if kept == nil {
		return o, runErr
	}
	if look.Validate {
		if err := writeRecord(filepath.Join(dir, model.RecordFile), kept, trace.txns, trace.began); err != nil {
			return o, err
		}
	}
	r, err := checker.CheckEvents(context.Background(), kept.Header(), kept.Events(), checker.WithService(done.Service))
	if err != nil {
		o.Trouble, o.Outcome = errors.Join(runErr, err).Error(), verdict.Unknown
		return o, kept.Write(filepath.Join(dir, folder.History))
	}
	o.Outcome, o.Reason, o.Coverage = r.Outcome(), r.Reason(), metOf(r, trace.situations(kept))
	if s.Plan == Edges || s.Plan == SpecPaths {
		o.Placements = placementsOf(w.Recipes, kept.Events())
	}
	for i := range r.Verdicts {
		if r.Verdicts[i].Outcome == verdict.Violated {
			if len(o.Violated) == 0 {
				o.By = r.Verdicts[i].Witnesses[0].To
			}
			o.Violated = append(o.Violated, r.Verdicts[i].Guarantee)
		}
	}
	if (o.Passed() || look.Branch.Seed != 0) && !look.Trace {
		return o, nil
	}
	if err := kept.Write(filepath.Join(dir, folder.History)); err != nil {
		return o, err
	}
	if l := done.Service; l != nil {
		l.History = kept.Header().Started
		if err := folder.KeepService(filepath.Join(dir, folder.History), kept.Header(), l); err != nil {
			return o, err
		}
	}
	return o, folder.Write(dir, kept.Header(), r, done.Took)
}

// record carries out the run, inside the bubble.
func (w *world) record(ctx context.Context, s Spec, until time.Duration, t *trace) (folder.Recorded, *histories.Kept, error) {
	t.fork() // at the beginning, if that is where the run goes on otherwise
	least, most := ensemble.SessionTimeouts(w.SessionTimeout)
	servers := ensemble.LocalConfig{ZooKeeper: s.ZooKeeper, TickTime: w.tick, MinSessionTimeout: least, MaxSessionTimeout: most}
	if s.Seed%2 != 0 {
		servers.FirstID = 128 // one run in two: neither sort of session is the exception
	}
	e, err := simulated.InMemory(servers, simulated.Memory{Seed: w.seed, Reconnected: w.reconnected, Latency: w.latency, Far: w.far, Spread: w.spread, Trace: t.note, Orders: w.orders})
	if err != nil {
		return folder.Recorded{}, nil, fmt.Errorf("simulation: %w", err)
	}
	w.Ensemble, w.Network = e, e.Network()
	w.Kinds = Kinds()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	t.began, t.until, t.end = time.Now(), until, func() { cancel(context.DeadlineExceeded) }
	t.first = max(servers.FirstID, 1)
	done, kept, err := folder.Keep(ctx, *w.Config, time.Time{}, map[string]string{
		"plan": s.Plan, "seed": strconv.FormatInt(s.Seed, 10), "clock": "virtual",
	})
	t.chosen, t.txns = e.Chosen(), e.Committed()
	return done, kept, errors.Join(err, e.Close())
}
