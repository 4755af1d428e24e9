package verify

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/folder"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/targets"
)

// trial is a test in a test: its failure does not fail the real one.
type trial struct {
	testing.TB
	ctx      context.Context
	deadline time.Time // zero for none

	mu             sync.Mutex
	failed, missed bool
	said           strings.Builder
}

func (t *trial) Context() context.Context     { return t.ctx }
func (t *trial) Deadline() (time.Time, bool)  { return t.deadline, !t.deadline.IsZero() }
func (t *trial) Logf(format string, a ...any) { t.say(fmt.Sprintf(format, a...)) }
func (t *trial) Error(a ...any)               { t.fail(); t.say(fmt.Sprint(a...)) }
func (t *trial) Fatal(a ...any)               { t.Error(a...); runtime.Goexit() }
func (t *trial) Skip(a ...any)                { t.missed = true; t.say(fmt.Sprint(a...)); runtime.Goexit() }

func (t *trial) fail() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.failed = true
}

func (t *trial) Failed() bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.failed
}

func (t *trial) say(text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.said.WriteString(text + "\n")
}

// try runs Lock in a trial, which change sets up, and returns the trial after it.
func try(t *testing.T, target lock.Target, change func(*trial), options ...Option) (*trial, *checker.Report) {
	t.Helper()
	before := goleak.IgnoreCurrent()
	tr := &trial{TB: t, ctx: t.Context()}
	if change != nil {
		change(tr)
	}
	var report *checker.Report
	done := make(chan struct{})
	go func() {
		defer close(done)
		report = Lock(tr, target, options...)
	}()
	<-done
	t.Log(tr.said.String())
	goleak.VerifyNone(t, before)
	return tr, report
}

func target(t *testing.T, name string) lock.Target {
	t.Helper()
	out, err := targets.Named(name)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func needsServers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("needs real servers")
	}
}

// kept returns the one folder below dir and fails unless the files of a run are in it.
func kept(t *testing.T, dir string) string {
	t.Helper()
	all, err := filepath.Glob(filepath.Join(dir, "*"))
	if err != nil || len(all) != 1 {
		t.Fatalf("%s has %v, %v; want one folder", dir, all, err)
	}
	for _, name := range []string{folder.History, folder.Verdict, folder.Page, folder.JUnit, "server-1.log"} {
		if info, err := os.Stat(filepath.Join(all[0], name)); err != nil || info.Size() == 0 {
			t.Errorf("%s is missing or empty: %v", name, err)
		}
	}
	return all[0]
}

// ownFault is a kind of fault that cuts off a client, and has a parameter.
func ownFault() fault.Kind {
	return fault.Kind{
		Name: "own", Description: "a client is cut off", Weight: 1,
		Span:   fault.Timeouts(0.5, 1.5),
		Params: []fault.Param{fault.Number("times", 1)},
		Make: func(s fault.Scene) (fault.Fault, error) {
			c, err := s.Victim()
			if err != nil {
				return fault.Fault{}, err
			}
			f := fault.Fault{Name: "own"}.OnClients(c)
			s.SetNumber(&f, "times", 3)
			return f.OnLinks(c.AllLinks(), func(ctx context.Context, l links.Link) error { return l.Cut(ctx, links.Down) }), nil
		},
	}
}

// ended is a schedule in which sessions are ended while their clients hold a lock, and a fault
// of the user's own comes last.
func ended(c *workload.Config) {
	var steps []nemesis.Step
	for i := range 8 {
		steps = append(steps, nemesis.Step{
			Fault: histories.ForcedExpiry, At: time.Duration(i+1) * 500 * time.Millisecond, For: 100 * time.Millisecond,
			Pick: fault.Pick{Aim: fault.AtHolder, Draw: uint32(i)},
		})
	}
	steps = append(steps, nemesis.Step{
		Fault: "own", At: 5 * time.Second, For: 300 * time.Millisecond, Pick: fault.Pick{Params: map[string]string{"times": "2"}},
	})
	c.Schedule = &nemesis.Schedule{Steps: steps}
	c.Mix = cycle.Mix{HoldOn: 1, Hold: 20 * time.Millisecond, Race: 1}
}

func TestALockThatBreaksFailsTheTestInPlainWords(t *testing.T) {
	needsServers(t)
	dir := t.TempDir()
	tr, report := try(t, target(t, "zk-lock"), nil, Duration(6*time.Second), Locks(1), OwnFaults(ownFault()), With(ended), Keep(dir), Seed(7))
	if !tr.failed || report.Outcome() != verdict.Violated {
		t.Fatalf("the test failed: %v, and the run is %s", tr.failed, report.Outcome())
	}
	in := kept(t, dir)
	for _, want := range []string{
		`mutual exclusion is violated: two owners held one lock at the same time`,
		`First: client \d+.* and client \d+.* both held lock "lock-0" from [\d.]+ s to [\d.]+ s`,
		`To look at it, in a browser: ` + regexp.QuoteMeta(filepath.Join(in, "report.html")),
		`The same faults again: verify\.Seed\(7\)`,
	} {
		if !regexp.MustCompile(want).MatchString(tr.said.String()) {
			t.Errorf("the test does not say %q", want)
		}
	}
	ownFaultStruck(t, filepath.Join(in, folder.History), report)
}

// ownFaultStruck fails unless the fault of the user's own was carried out, healed,
// counted among those that met a lock, and can be carried out again.
func ownFaultStruck(t *testing.T, history string, report *checker.Report) {
	t.Helper()
	h, err := histories.ReadFile(history)
	if err != nil {
		t.Fatal(err)
	}
	edges := map[histories.Type]int{}
	for _, e := range h.Events {
		if e.Fault != nil && e.Fault.Name == "own" && e.Error == "" && e.Fault.Params["times"] == "2" && len(e.Fault.Processes) > 0 {
			edges[e.Type]++
		}
	}
	if edges[histories.FaultStart] != 1 || edges[histories.FaultStop] != 1 {
		t.Errorf("on record of the fault: %v, want one start and one stop", edges)
	}
	if !slices.ContainsFunc(report.Meetings, func(m checker.Meetings) bool { return m.Fault == "own" }) {
		t.Error("the table of what faults have met has no row for it")
	}
	again, err := nemesis.FromHistory(h, append(faults.List(), ownFault()))
	if err != nil || again.Steps[len(again.Steps)-1].Fault != "own" {
		t.Errorf("the schedule of the history is %+v, error %v", again, err)
	}
	if _, err := nemesis.FromHistory(h, faults.List()); err == nil {
		t.Error("an unknown fault can be carried out again")
	}
}

func TestALockThatHoldsPassesAndLeavesNothing(t *testing.T) {
	needsServers(t)
	t.Setenv("TMPDIR", t.TempDir())
	tr, report := try(t, target(t, "recipes"), nil, Duration(3*time.Second), Faults("none"), Clients(4), Locks(1),
		With(func(c *workload.Config) { c.Mix.Reenter = 0.5 }))
	if tr.failed != (report.Outcome() != verdict.Holds) {
		t.Errorf("the test failed: %v, and the run is %s", tr.failed, report.Outcome())
	}
	if report.Outcome() == verdict.Violated {
		t.Errorf("a lock without faults: %s", report.Reason())
	}
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "zkverify-*")); (len(left) > 0) != tr.failed {
		t.Errorf("the test failed: %v, and left %v", tr.failed, left)
	}
}

// ending calls end when the first fault is in force.
func ending(end func()) Option {
	once := sync.OnceFunc(end)
	return With(func(c *workload.Config) {
		c.Progress = func(p workload.Progress) {
			if len(p.Faults) > 0 {
				once()
			}
		}
	})
}

func TestALockIsVerifiedWithoutJava(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds")
	}
	t.Setenv("JAVA_HOME", "/nope")
	tr, report := try(t, target(t, "recipes"), nil, Simulated("3.9.6"), Duration(3*time.Second), Faults("down", "kill-leader"), Clients(4), Locks(1), Keep(t.TempDir()))
	if report == nil || report.ZooKeeper != "3.9.6, simulated" || report.Outcome() == verdict.Violated {
		t.Errorf("the report is %+v; said: %s", report, tr.said.String())
	}
}

func TestATestThatIsOverJudgesWhatIsOnRecord(t *testing.T) {
	needsServers(t)
	dir := t.TempDir()
	ctx, cancel := context.WithCancelCause(t.Context())
	tr, _ := try(t, target(t, "recipes"), func(tr *trial) { tr.ctx = ctx }, Duration(10*time.Minute), Faults("down", "latency", "isolate-server"),
		Keep(dir), ending(func() { cancel(errors.New("enough")) }))
	if !tr.failed || !strings.Contains(tr.said.String(), "(enough); until then: ") {
		t.Error("the test does not say that it was ended, and what is known")
	}
	h, err := histories.ReadFile(filepath.Join(kept(t, dir), folder.History))
	if err != nil {
		t.Fatal(err)
	}
	began, healed := 0, 0
	for _, e := range h.Events {
		switch e.Type {
		case histories.FaultStart:
			began++
		case histories.FaultStop:
			healed++
		}
	}
	if began == 0 || began != healed {
		t.Errorf("%d faults began, %d were healed", began, healed)
	}
}

func TestAnInterruptEndsTheRunInGoodOrderAndTheTestsThatFollow(t *testing.T) {
	needsServers(t)
	defer interrupted.Store(false)
	dir := t.TempDir()
	tr, _ := try(t, target(t, "recipes"), nil, Duration(10*time.Minute), Keep(dir), ending(func() { _ = syscall.Kill(os.Getpid(), syscall.SIGINT) }))
	if !tr.failed || !strings.Contains(tr.said.String(), "(signal: interrupt); until then: ") {
		t.Error("the test does not say that it was interrupted")
	}
	kept(t, dir)
	if tr, _ := try(t, target(t, "recipes"), nil); !tr.missed || tr.failed {
		t.Error("another test goes on after an interrupt")
	}
}

func TestWithoutZooKeeperTheTestSaysWhatToInstall(t *testing.T) {
	needsServers(t)
	t.Setenv("ZKVERIFY_ZOOKEEPER", "")
	t.Setenv("ZOOKEEPER_HOME", t.TempDir())
	t.Setenv("TMPDIR", t.TempDir())
	tr, _ := try(t, target(t, "recipes"), nil)
	if left, _ := filepath.Glob(filepath.Join(os.Getenv("TMPDIR"), "zkverify-*")); len(left) > 0 {
		t.Errorf("a run that did not take place left %v", left)
	}
	for _, want := range []string{"ZOOKEEPER_HOME is ", "apt-get install openjdk-17-jre-headless zookeeper", "brew install zookeeper", "go test -short"} {
		if !tr.failed || !strings.Contains(tr.said.String(), want) {
			t.Errorf("failed: %v; the test does not say %q", tr.failed, want)
		}
	}
}

func TestATestWithTooLittleTimeSaysSoAtOnce(t *testing.T) {
	needsServers(t)
	tr, _ := try(t, target(t, "recipes"), func(tr *trial) { tr.deadline = time.Now().Add(40 * time.Second) })
	if !tr.failed || !strings.Contains(tr.said.String(), "-timeout") {
		t.Error("30 s of faults fit into a test of 40 s")
	}
}

func TestATargetIsAskedForRecipesThatItHas(t *testing.T) {
	needsServers(t)
	tr, _ := try(t, target(t, "zk-lock"), nil, Recipes("semaphore"))
	if !tr.failed || !strings.Contains(tr.said.String(), "mutex") {
		t.Error("a lock was driven as a semaphore")
	}
}

func TestFoldersAreKeptApart(t *testing.T) {
	s, dir := settings{keep: t.TempDir()}, map[string]bool{}
	for range 3 {
		in, _, err := s.folder(t)
		if err != nil || dir[in] {
			t.Fatalf("%s, error %v, after %v", in, err, dir)
		}
		dir[in] = true
	}
}

func TestARunOnServersThatDisagreeIsMadeAgain(t *testing.T) {
	dir, in := t.TempDir(), []string{}
	void := &ran{report: &checker.Report{Disagreements: []string{"server 2 lacks a node"}}}
	tr := &trial{TB: t, ctx: t.Context()}
	r, err := (&settings{}).untilShown(t.Context(), tr, dir, func(dir string) (*ran, error) {
		in = append(in, dir)
		if len(in) == 2 {
			return &ran{report: &checker.Report{}}, nil
		}
		return void, nil
	})
	if err != nil || r == void || len(in) != 2 || in[0] == in[1] {
		t.Errorf("runs in %v, error %v; want a second in a folder of its own", in, err)
	}
	in = nil
	r, err = (&settings{}).untilShown(t.Context(), tr, t.TempDir(), func(dir string) (*ran, error) { in = append(in, dir); return void, nil })
	if err != nil || r != void || len(in) != 1+campaign.Repeats || !strings.Contains(r.failure(1), "the servers disagree with each other") {
		t.Errorf("%d runs, error %v", len(in), err)
	}
}

func TestEachWayToFailIsToldApart(t *testing.T) {
	idle := &checker.Report{Verdicts: []verdict.Verdict{{Guarantee: "fencing", Outcome: verdict.NotExercised, Promised: true, Expected: true, Reason: "no token was granted"}}}
	for want, r := range map[string]*ran{
		"the run failed: disk full":                {report: &checker.Report{}, failed: errors.New("disk full")},
		"not exercised: ":                          {report: idle},
		"the run was ended after 0s (enough)":      {report: idle, why: errors.New("enough")},
		"fencing is violated: tokens went back.\n": {report: &checker.Report{Verdicts: []verdict.Verdict{{Guarantee: "fencing", Outcome: verdict.Violated, Promised: true, Reason: "tokens went back"}}}, why: errors.New("enough")},
	} {
		if got := r.failure(3); !strings.HasPrefix(got, want) {
			t.Errorf("%q; want %q first", got, want)
		}
	}
	holds := &checker.Report{Verdicts: []verdict.Verdict{{Guarantee: "fencing", Outcome: verdict.Holds, Promised: true, Expected: true}}}
	if got := (&ran{report: holds}).failure(3); got != "" {
		t.Errorf("a run that holds fails with %q", got)
	}
}
