package verify

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// ran is a run that was judged.
type ran struct {
	folder.Recorded
	dir    string
	report *checker.Report
	why    error // the reason of an early end, nil if there is none
	failed error // the reason why the record is not complete
}

// untilShown makes a run in dir, and again in another folder below it if the servers have
// disagreed and belong to this run alone: other servers would still disagree. Such a run shows a
// bug of ZooKeeper (ZOOKEEPER-4394 in 3.8), or of simulated servers, and nothing about the lock.
func (s *settings) untilShown(ctx context.Context, t testing.TB, dir string, run func(dir string) (*ran, error)) (r *ran, err error) {
	c := &campaign.Campaign{Say: func(text string) { t.Log(words.Line(text)) }}
	err = c.UntilShown(ctx, "the run shows nothing of the lock", func(again int) (void string, err error) {
		in := dir
		if again > 0 {
			in = filepath.Join(dir, fmt.Sprintf("again-%d", again))
			if err := os.Mkdir(in, 0o755); err != nil {
				return "", err
			}
		}
		if r, err = run(in); err == nil && r.report.Void() && s.servers == nil {
			void = r.report.Reason()
		}
		return void, err
	})
	return r, err
}

// run makes one run in dir, and judges it.
func (s *settings) run(ctx context.Context, t testing.TB, dir string) (_ *ran, err error) {
	network, err := links.InProcess()
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, network.Close()) }()
	cfg := s.config
	cfg.Network, cfg.Ensemble = network, s.servers
	if cfg.Ensemble == nil {
		started, err := s.start(ctx, dir, network)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, started.Close()) }()
		cfg.Ensemble = started
	}
	tell := cfg.Progress
	var told teller
	cfg.Progress = func(p workload.Progress) {
		told.tell(t, p)
		if tell != nil {
			tell(p)
		}
	}
	out := &ran{dir: dir}
	out.Recorded, out.failed = folder.Record(ctx, dir, cfg, time.Now(), nil)
	if out.History == "" {
		return nil, out.failed
	}
	if ctx.Err() != nil {
		out.why = context.Cause(ctx)
	}
	// Judging goes on after an interrupt; a second one ends the process.
	judging := context.WithoutCancel(ctx)
	header, r, err := folder.JudgeFile(judging, out.History, append(s.own, checker.WithTimeLimit(judgeWithin))...)
	if err != nil {
		return nil, errors.Join(out.failed, err)
	}
	out.report = r
	return out, folder.Write(dir, header, r, out.Took)
}

// start starts the servers of a run.
func (s *settings) start(ctx context.Context, dir string, network links.Network) (ensemble.Ensemble, error) {
	config := ensemble.LocalConfig{
		Dir: dir, Peers: network, SyncLimit: syncLimit, ZooKeeper: s.version, Failpoints: s.failpoints(),
		MinSessionTimeout: min(500*time.Millisecond, s.config.SessionTimeout),
		MaxSessionTimeout: max(time.Minute, s.config.SessionTimeout),
	}
	if s.version != "" {
		return simulated.Start(ctx, config)
	}
	return ensemble.StartLocal(ctx, config)
}

// failpoints reports whether the faults of the run need them in local servers.
func (s *settings) failpoints() bool {
	names := s.config.Faults
	if s.config.Schedule != nil {
		names = append(s.config.Schedule.Names(faults.List()), "none")
	}
	return faults.List().AskFailpoints(names)
}

// syncLimit is the sync limit of the servers, in ticks of 200 ms: 3 s. A follower that lost its
// leader answers for that long, and so until after its clients' sessions of 2 s have expired,
// which puts a lock to the test.
const syncLimit = 15

// judgeWithin bounds the searches of Porcupine.
const judgeWithin = time.Minute

// failure returns the reason why the test fails, in plain words; "" if it does not fail.
func (r *ran) failure(seed int64) string {
	var b strings.Builder
	w := words.Terminal(&b) // the log of a test is that of CI
	switch o := r.report.Outcome(); {
	case o == verdict.Violated:
		for i := range r.report.Verdicts {
			v := &r.report.Verdicts[i]
			if v.Outcome != verdict.Violated {
				continue
			}
			fmt.Fprintf(w, "%s is violated: %s.\n", v.Guarantee, v.Reason)
			if len(v.Witnesses) > 0 {
				fmt.Fprintf(w, "  First: %s\n", v.Witnesses[0])
			}
		}
	case r.why != nil:
		fmt.Fprintf(w, "the run was ended after %v (%v); until then: %s\n", r.Chaos.Round(time.Millisecond), r.why, r.report.Reason())
	case r.failed != nil:
		fmt.Fprintf(w, "the run failed: %v\n", r.failed)
	case o == verdict.NotExercised:
		fmt.Fprintf(w, "not exercised: %s\n  Give it more time (verify.Duration), or promise only what the lock does.\n", r.report.Reason())
	case o != verdict.Holds:
		fmt.Fprintf(w, "%s: %s\n", o, r.report.Reason())
	default:
		return ""
	}
	fmt.Fprintf(w, "  To look at it, in a browser: %s\n", filepath.Join(r.dir, folder.Page))
	fmt.Fprintf(w, "  In words: go run github.com/zkverify/zkverify/cmd/zkverify explain %s\n", r.dir)
	fmt.Fprintf(w, "  The same faults again: verify.Seed(%d)", seed)
	return b.String()
}

// teller logs the progress of a run, at each change of phase and every ten seconds.
type teller struct {
	phase string
	last  time.Time
}

func (l *teller) tell(t testing.TB, p workload.Progress) {
	if p.Phase == l.phase && time.Since(l.last) < 10*time.Second {
		return
	}
	l.phase, l.last = p.Phase, time.Now()
	t.Logf("%s, %.0f s: %s, lost: %d, sessions expired: %d; faults now: %s",
		cmp.Or(p.Phase, "start"), p.Elapsed.Seconds(), words.Count(p.Ops, "operation"), p.Lost, p.Expired, cmp.Or(words.Line(strings.Join(p.Faults, ", ")), "none"))
}

// keepsArtifacts reports whether go test was told to keep the files of tests.
func keepsArtifacts() bool {
	f := flag.Lookup("test.artifacts")
	return f != nil && f.Value.String() == "true"
}
