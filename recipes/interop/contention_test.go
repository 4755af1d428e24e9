package interop_test

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// Settings of the long test, for "make interop".
const (
	durationVariable = "ZKVERIFY_INTEROP_DURATION" // as Go writes it; default 10s
	seedVariable     = "ZKVERIFY_INTEROP_SEED"
	outVariable      = "ZKVERIFY_INTEROP_OUT" // keeps the history in this folder
)

const contenders = 6 // three of each sort

// TestMixedContention makes clients of both libraries contend for the same paths while their
// links are cut, servers lose each other and sessions expire. One history records all of them;
// the checker judges it like that of any lock.
func TestMixedContention(t *testing.T) {
	duration := setting(t, durationVariable, 10*time.Second, time.ParseDuration)
	onOwnServers(t, func() *checker.Report {
		report, h := contend(t, ours(t), curatorTarget{}, workload.Config{
			Duration: duration,
			Faults:   tellable(),
			Seed:     setting(t, seedVariable, 1, func(s string) (int64, error) { return strconv.ParseInt(s, 10, 64) }),
		})
		if !sound(report) {
			return report
		}
		long := duration >= time.Minute // a short run cannot cover everything
		exercised(t, h, enough, long)
		if o := report.Outcome(); o != verdict.Holds && (long || o != verdict.NotExercised) {
			t.Errorf("%s: %s", o, report.Reason())
			tell(t, report)
		}
		return report
	})
}

// tellable returns the faults that Curator's locks can report to a holder: they never check
// whether another client has deleted their node.
func tellable() (names []string) {
	for _, k := range faults.List() {
		if k.Name != histories.NodeDeletion && (k.Needs == fault.NeedsNothing || k.Needs == fault.NeedsPeers || k.Needs == fault.NeedsProcesses) {
			names = append(names, k.Name)
		}
	}
	return names
}

// The checker must find that a broken lock of ours, which frees the lock with an inner release,
// lets Curator in.
func TestMixedContentionFindsABrokenLockOfOurs(t *testing.T) {
	report, _ := contend(t, freesEarlyTarget{ours(t)}, curatorTarget{}, workload.Config{
		Duration: 3 * time.Second, Faults: []string{"none"}, Mix: cycle.Mix{Reenter: 0.5},
	})
	if !between(report.Verdict(checker.MutualExclusion)) {
		t.Error("the checker did not find that Curator was granted a lock of which we held an outer level")
		tell(t, report)
	}
}

// between reports whether exclusion was broken between the two sorts.
func between(v *verdict.Verdict) bool {
	return slices.ContainsFunc(v.Witnesses, func(w verdict.Witness) bool {
		return len(w.Parties) == 2 && isCurator(w.Parties[0].Process%contenders) != isCurator(w.Parties[1].Process%contenders)
	})
}

func setting[T any](t *testing.T, name string, standard T, parse func(string) (T, error)) T {
	t.Helper()
	text := os.Getenv(name)
	if text == "" {
		return standard
	}
	v, err := parse(text)
	must(t, err)
	return v
}

func ours(t *testing.T) lock.Target {
	t.Helper()
	target, err := targets.Named("recipes")
	must(t, err)
	return target
}

// freesEarlyTarget is our target with a defect: the release of an inner level frees the lock.
type freesEarlyTarget struct{ lock.Target }

func (f freesEarlyTarget) Open(ctx context.Context, env lock.Env) (lock.Client, error) {
	c, err := f.Target.Open(ctx, env)
	return freesEarly{c}, err
}

type freesEarly struct{ lock.Client }

func (freesEarly) Reenter(_ context.Context, _ string, held lock.Lease) (lock.Lease, error) {
	return held, nil
}

// contend runs both libraries and returns the report on their one history.
func contend(t *testing.T, ours, theirs lock.Target, cfg workload.Config) (*checker.Report, *histories.History) {
	t.Helper()
	needsCurator(t)
	named := &namingNetwork{Network: network, clients: map[string]int{}}
	cfg.Ensemble, cfg.Network, cfg.Target = servers, named, mixedTarget{ours, theirs, named}
	cfg.Clients, cfg.Locks, cfg.SessionTimeout = contenders, cmp.Or(cfg.Locks, contenders/2), timeout
	dir := os.Getenv(outVariable)
	if dir == "" {
		dir = t.TempDir()
	}
	file := filepath.Join(dir, fmt.Sprintf("%s-%d.jsonl", t.Name(), cfg.Seed))
	header := cfg.Header()
	header.Options = map[string]string{"curator": version, "faults": cmp.Or(strings.Join(cfg.Faults, ","), "all")}
	recorder, err := histories.Create(file, header)
	must(t, err)
	cfg.Recorder = recorder
	result, err := workload.Run(t.Context(), cfg)
	if err != nil {
		t.Error(err)
	}
	must(t, recorder.Close())
	h, err := histories.ReadFile(file)
	must(t, err)
	report, err := checker.Check(context.Background(), h, checker.WithService(result.Service))
	must(t, err)
	t.Logf("seed %d, %v: %d operations, %d cycles, %d faults struck, %d leases held across the start of one, %d of our sessions expired; warnings %v",
		cfg.Seed, cfg.Duration, result.Ops, result.Cycles, result.Nemesis.Struck, result.HeldAcross, result.Expired, result.Warnings)
	for _, v := range report.Verdicts {
		t.Log(v.String())
	}
	return report, h
}

// tell logs the witnesses.
func tell(t *testing.T, r *checker.Report) {
	for _, v := range r.Verdicts {
		for _, w := range v.Witnesses {
			t.Logf("%s: %s", v.Guarantee, w)
			for _, p := range w.Parties {
				t.Logf("    process %d is %s", p.Process, sortOf(p.Process))
			}
		}
	}
}

// enough is the least number of hand-overs from one library to the other with which a run is
// conclusive.
const enough = 20

// exercised fails the test when there were too few hand-overs between the two libraries, and
// fails a long run when no holder of one of them ever lost its lock.
func exercised(t *testing.T, h *histories.History, enough int, long bool) {
	t.Helper()
	var holds [2]int         // by sort
	lost := [2]int{}         // by sort
	handovers := [2][2]int{} // from one sort to the other
	last := map[string]int{}
	for _, e := range h.Events {
		sort := 0
		if e.Process >= 0 && isCurator(e.Process%contenders) {
			sort = 1
		}
		switch {
		case e.Type == histories.Lost:
			lost[sort]++
		case e.Type == histories.OK && (e.Op == histories.Acquire || e.Op == histories.TryAcquire) && e.Depth == 1:
			holds[sort]++
			if before, ok := last[e.Lock]; ok {
				handovers[before][sort]++
			}
			last[e.Lock] = sort
		}
	}
	t.Logf("holds: %d ours, %d Curator's; lost %d and %d; the lock went %d times from us to Curator, %d times back", holds[0], holds[1], lost[0], lost[1], handovers[0][1], handovers[1][0])
	if handovers[0][1] < enough || handovers[1][0] < enough {
		t.Errorf("too few went from one sort to the other; want %d each way", enough)
	}
	if long && (lost[0] == 0 || lost[1] == 0) {
		t.Error("inconclusive: no holder of one sort lost its lock")
	}
}
