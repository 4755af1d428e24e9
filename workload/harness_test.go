package workload_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// The tests of this package share servers, and one network.
var (
	pool    = &ensembletest.Pool{Config: ensemble.LocalConfig{SyncLimit: 10}}
	network links.Network
)

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		beWorker()
	}
	var err error
	if network, err = links.InProcess(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	pool.Config.Peers = network
	before := goleak.IgnoreCurrent()
	code := m.Run()
	// The runs of parallel tests have ended too.
	if left := leftBehind(before); left != nil && code == 0 {
		fmt.Fprintln(os.Stderr, "the runs of parallel tests left goroutines running:", left)
		code = 1
	}
	_ = pool.Close()
	_ = network.Close()
	os.Exit(code)
}

// leftBehind returns an error that names goroutines of runs, except those that before ignores.
// The links between the shared servers outlive a run, and healing one replaces its goroutines:
// only others count.
func leftBehind(before goleak.Option) error {
	ours := regexp.MustCompile(`zkverify/(workload|nemesis|recipes)(/[a-z/]+)?\.|go-zookeeper/zk\.`)
	if err := goleak.Find(before); err != nil && ours.MatchString(err.Error()) {
		return err
	}
	return nil
}

// parallel runs a test beside others, on servers of its own if they are simulated. It is for
// tests that mostly wait, and do not count the goroutines that a run has left: those of other
// runs would count. The goroutines that the runs of parallel tests leave are found at the end.
func parallel(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	pool.Apart(t)
	if !ensembletest.Simulated(t) {
		return
	}
	own, err := links.InProcess() // runs on different servers may give links the same names
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { own.Close() })
	apart.Store(t.Name(), own)
}

// apart has the networks of the tests that are parallel, by the tests' names.
var apart sync.Map

// servers returns the servers of a test and the network to them.
func servers(t *testing.T) (ensemble.Ensemble, links.Network) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs servers")
	}
	if own, ok := apart.Load(t.Name()); ok {
		return pool.Of(t), own.(links.Network)
	}
	return pool.Of(t), network
}

// drive completes cfg, runs it, and returns its result and the verdicts on its
// history.
func drive(t *testing.T, ctx context.Context, cfg workload.Config) (workload.Result, *checker.Report, error) {
	t.Helper()
	result, report, _, err := record(t, ctx, cfg)
	return result, report, err
}

// record does as drive, and returns the history too.
func record(t *testing.T, ctx context.Context, cfg workload.Config) (workload.Result, *checker.Report, *histories.History, error) {
	t.Helper()
	cfg.Ensemble, cfg.Network = servers(t)
	file := filepath.Join(t.ArtifactDir(), "history.jsonl")
	rec, err := histories.Create(file, cfg.Header())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Recorder = rec
	before := goleak.IgnoreCurrent()
	start := time.Now()
	result, runErr := workload.Run(ctx, cfg)
	took := time.Since(start)
	if _, beside := apart.Load(t.Name()); !beside {
		if err := leftBehind(before); err != nil {
			t.Errorf("Run left goroutines running: %v", err)
		}
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if _, _, refused := rec.Counts(); refused > 0 {
		t.Errorf("%d events broke the rules of the format", refused)
	}
	t.Logf("%s in %v: %s", cfg.Target.Name(), took.Round(time.Millisecond), summary(result))
	h, err := histories.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var options []checker.Option
	if result.Service != nil {
		options = append(options, checker.WithService(result.Service))
	}
	report, err := checker.Check(context.Background(), h, options...)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range report.Verdicts {
		t.Logf("  %s", v.String())
	}
	return result, report, h, runErr
}

func summary(r workload.Result) string {
	return fmt.Sprintf("%d ops, %d cycles (%.0f/s in %v), %d expired (%d busy), %d held across faults, %d struck, %d skipped, stuck %v, census %d nodes %d watches %d goroutines, warnings %v",
		r.Ops, r.Cycles, float64(r.Cycles)/r.Chaos.Seconds(), r.Chaos.Round(time.Millisecond), r.Expired, r.ExpiredBusy, r.HeldAcross,
		r.Nemesis.Struck, len(r.Nemesis.Skipped), r.Stuck, len(r.Census.Contenders), r.Census.Watches, len(r.Census.Goroutines), r.Warnings)
}

func target(t *testing.T, name string) lock.Target {
	t.Helper()
	out, err := targets.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
