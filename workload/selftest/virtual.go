package selftest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/internal/seeded"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/remote"
)

// Virtual carries out trials in virtual time: each in a process of its own, on simulated
// servers.
type Virtual struct {
	campaign.Subprocess // calls Host
	Servers             Servers
	Jobs                int // trials at a time, at least 1
}

// Servers configures simulated servers.
type Servers struct {
	ZooKeeper string        `json:"zookeeper"` // one of simulated.Versions; empty: the first
	Tick      time.Duration `json:"tick"`
	SyncLimit int           `json:"syncLimit"` // ticks
}

// Can reports whether the provocation can be carried out in virtual time: clients that live in
// processes of their own can be paused there only on a seeded runtime. A nil Virtual can carry
// out none.
func (v *Virtual) Can(p Provocation) bool {
	return v != nil && (v.Seeded || p.Config.Workers.N == 0)
}

// zooKeeper names the servers.
func (cfg Config) zooKeeper() string {
	switch {
	case cfg.Virtual != nil:
		version := cfg.Virtual.Servers.ZooKeeper
		if version == "" {
			version = simulated.Versions()[0]
		}
		return version + ", simulated"
	case cfg.Ensemble.Kind() == "simulated":
		return cfg.Ensemble.Version() + ", simulated"
	}
	return cfg.Ensemble.Version()
}

// Messages between clients and servers take from a third of a millisecond to four times
// that, each way: as on one machine, and as far apart as on a busy one.
const (
	latency = 300 * time.Microsecond
	spread  = 3
)

// question is the request to a process for a trial, carried out in its working directory;
// answer is the result.
type question struct {
	Trial   Trial   `json:"trial"`
	Servers Servers `json:"servers"`
}

type answer struct {
	Trial Trial `json:"trial"`
	Void  bool  `json:"void"`
}

// run carries out one run of the trial in a process. If the process fails, the trial went
// wrong, and the output of the process is kept.
func (v *Virtual) run(ctx context.Context, dir string, t *Trial) (void bool, err error) {
	var a answer
	err = v.Ask(ctx, dir, question{*t, v.Servers}, &a)
	if failed := (*campaign.Failure)(nil); errors.As(err, &failed) {
		t.Why = "the run failed: " + failed.Reason
		t.Kept = filepath.Join(dir, strings.TrimSuffix(t.file(), "jsonl")+campaign.StacksFile)
		return false, os.WriteFile(t.Kept, failed.Printed, 0o644)
	}
	if err != nil {
		_ = os.Remove(filepath.Join(dir, t.file())) // half a run shows nothing
		return false, err
	}
	*t = a.Trial
	if t.Kept != "" {
		t.Kept = filepath.Join(dir, t.Kept)
	}
	return a.Void, nil
}

// Host carries out the one trial that a Virtual asks for, as campaign.Host does.
func Host(version string, in io.Reader, out io.Writer) {
	campaign.Host(version, in, out, func(t *testing.T, q question) (answer, error) {
		seeded.Seed(uint64(q.Trial.Seed))
		void, err := q.Trial.inBubble(t, q.Servers)
		return answer{q.Trial, void}, err
	})
}

// inBubble carries out the trial in a bubble, and judges it outside of it.
func (t *Trial) inBubble(test *testing.T, servers Servers) (void bool, err error) {
	p, err := provocationNamed(t.Provocation)
	if err != nil {
		return false, err
	}
	var done recorded
	synctest.Test(test, func(test *testing.T) { done, err = t.onServers(test.Context(), servers, p) })
	if err != nil || t.NotRun {
		return false, err
	}
	return t.decide(context.Background(), done, p)
}

// onServers carries out the trial on servers of its own.
func (t *Trial) onServers(ctx context.Context, s Servers, p Provocation) (done recorded, err error) {
	config := ensemble.LocalConfig{
		ZooKeeper: s.ZooKeeper, TickTime: s.Tick, SyncLimit: s.SyncLimit,
		MinSessionTimeout: min(500*time.Millisecond, SessionTimeout),
	}
	if t.Seed%2 != 0 {
		config.FirstID = 128 // one seed in two: neither sort of session is the exception
	}
	e, err := simulated.InMemory(config, simulated.Memory{Seed: uint64(t.Seed), Latency: latency, Spread: spread})
	if err != nil {
		return done, err
	}
	defer func() { err = errors.Join(err, e.Close()) }()
	cfg := Config{Ensemble: e, Network: e.Network(), Dir: "."}
	if p.Config.Workers.N > 0 {
		p.Config.Workers, p.Config.Processes = remote.Config{}, true
	}
	if why := impossible(cfg, p); why != "" {
		t.NotRun, t.Why = true, why
		return done, nil
	}
	return t.record(ctx, cfg, p, time.Time{}, nil)
}

// provocationNamed returns the provocation of a name.
func provocationNamed(name string) (Provocation, error) {
	for _, p := range Provocations() {
		if p.Name == name {
			return p, nil
		}
	}
	return Provocation{}, fmt.Errorf("no provocation is named %q", name)
}
