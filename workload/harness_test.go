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
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// shared is the ensemble of all tests of this package: starting one takes
// longer than most of them.
var shared struct {
	once    sync.Once
	network links.Network
	local   *ensemble.Local
	err     error
}

func TestMain(m *testing.M) {
	if os.Getenv(workerEnv) != "" {
		beWorker()
	}
	code := m.Run()
	if shared.local != nil {
		_ = shared.local.Close()
		_ = shared.network.Close()
	}
	os.Exit(code)
}

// servers returns the shared ensemble and its network.
func servers(t *testing.T) (*ensemble.Local, links.Network) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers")
	}
	shared.once.Do(func() {
		if shared.network, shared.err = links.InProcess(); shared.err == nil {
			shared.local, shared.err = ensemble.StartLocal(context.Background(), ensemble.LocalConfig{Peers: shared.network, SyncLimit: 10})
		}
	})
	if shared.err != nil {
		t.Fatal(shared.err)
	}
	return shared.local, shared.network
}

// drive completes cfg, runs it, and returns its result and the verdicts on its
// history.
func drive(t *testing.T, ctx context.Context, cfg workload.Config) (workload.Result, *checker.Report, error) {
	t.Helper()
	result, report, _, err := record(t, ctx, cfg)
	return result, report, err
}

// record is drive that returns the history too.
func record(t *testing.T, ctx context.Context, cfg workload.Config) (workload.Result, *checker.Report, *histories.History, error) {
	t.Helper()
	local, network := servers(t)
	cfg.Ensemble, cfg.Network = local, network
	file := filepath.Join(t.TempDir(), "history.jsonl")
	rec, err := histories.Create(file, cfg.Header())
	if err != nil {
		t.Fatal(err)
	}
	cfg.Recorder = rec
	before := goleak.IgnoreCurrent()
	start := time.Now()
	result, runErr := workload.Run(ctx, cfg)
	took := time.Since(start)
	// The links between the shared servers outlive the run, and healing one
	// replaces its goroutines: only others count.
	ours := regexp.MustCompile(`zkverify/(workload|nemesis|recipes)(/[a-z/]+)?\.|go-zookeeper/zk\.`)
	if err := goleak.Find(before); err != nil && ours.MatchString(err.Error()) {
		t.Errorf("Run left goroutines running: %v", err)
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
	report, err := checker.Check(context.Background(), h)
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
