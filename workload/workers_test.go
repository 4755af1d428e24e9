package workload_test

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/lock"
	"github.com/zkverify/zkverify/workload/remote"
	"github.com/zkverify/zkverify/workload/targets"
	"github.com/zkverify/zkverify/workload/worker"
)

// workerEnv makes the test binary a worker process.
const workerEnv = "ZKVERIFY_TEST_WORKER"

// beWorker is called by TestMain.
func beWorker() {
	if err := worker.Serve(context.Background(), os.Stdin, os.Stdout, targets.All()...); err != nil {
		os.Stderr.WriteString(err.Error() + "\n")
		os.Exit(1)
	}
	os.Exit(0)
}

func workers(t *testing.T, n int) remote.Config {
	t.Cleanup(func() { noneLeft(t) })
	return remote.Config{N: n, Command: []string{"/usr/bin/env", workerEnv + "=1", os.Args[0]}, Logs: t.TempDir()}
}

// noneLeft fails the test if a worker process is left running.
func noneLeft(t *testing.T) {
	t.Helper()
	all, _ := filepath.Glob("/proc/[0-9]*/environ")
	for _, file := range all {
		if env, err := os.ReadFile(file); err == nil && strings.Contains(string(env), workerEnv+"=1") {
			t.Errorf("%s: a worker process is left", filepath.Dir(file))
		}
	}
}

// pauses returns a schedule of pauses of a holder's process.
func pauses(steps ...nemesis.Step) *nemesis.Schedule {
	for i := range steps {
		if steps[i].Fault == "" {
			steps[i].Fault = histories.WorkerPause
		}
		steps[i].Pick = fault.Pick{Aim: fault.AtHolder, Draw: uint32(i)}
	}
	return &nemesis.Schedule{Steps: steps}
}

// contended returns a run with one lock that is held for long by clients that hold on when hit:
// of two processes one is paused, and the other's clients wait for its lock.
func contended(t *testing.T, target lock.Target, schedule *nemesis.Schedule) workload.Config {
	return workload.Config{
		Target: target, Seed: 1, Clients: 4, Locks: 1, Duration: 12 * time.Second,
		SessionTimeout: 2 * time.Second, Workers: workers(t, 2), Schedule: schedule,
		// Most of the time a holder is between a read and a write.
		Mix: cycle.Mix{HoldOn: 1, Race: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Hold: 1500 * time.Millisecond, Long: -1, Guarded: 1},
	}
}

func TestAPausedHolderBelievesOnAndOnlyTheFenceProtects(t *testing.T) {
	r, report, h, err := record(t, t.Context(), contended(t, target(t, "recipes"), pauses(
		nemesis.Step{At: 500 * time.Millisecond, For: 3200 * time.Millisecond},
		nemesis.Step{At: 4500 * time.Millisecond, For: 3200 * time.Millisecond},
		nemesis.Step{At: 8500 * time.Millisecond, For: 3200 * time.Millisecond},
	)))
	if err != nil {
		t.Fatal(err)
	}
	if r.Nemesis.Struck != 3 {
		t.Fatalf("%d pauses struck: %v", r.Nemesis.Struck, r.Nemesis.Skipped)
	}
	// So few holds may not include a re-entry. On a machine that is too busy to carry lines in
	// time no violation is held against the lock.
	busy := report.Late != "" || len(report.Silences) > 0
	if o := report.Outcome(); o != verdict.Holds && o != verdict.NotExercised && !(busy && o == verdict.Unknown) {
		t.Errorf("the run is %s: %s", o, report.Reason())
	}
	figure := func(guarantee, name string) float64 {
		v, ok := report.Verdict(guarantee).Figure(name)
		if !ok {
			t.Errorf("%s has no figure %q", guarantee, name)
		}
		return v
	}
	if n := figure(checker.MutualExclusion, "overlaps under pauses of a holder's process, which no lock can prevent"); n < 1 {
		t.Error("no beliefs overlapped: the holder did not believe on, or no other client got its lock")
	}
	if n := figure(checker.NoLostUpdateFenced, "writes refused"); n < 1 {
		t.Error("no write with an old token was refused: no client tried one")
	}
	if n := figure(checker.NoLostUpdateGuarded, "writes refused"); n < 1 {
		t.Error("no transaction of a holder that had been paused was refused: no client tried one")
	}
	t.Logf("loss was told %.1f ms after waking at most", figure(checker.LossIsTold, "from the end of a pause to lost, longest"))
	if !slices.ContainsFunc(report.Notes, func(n string) bool { return strings.HasPrefix(n, "under pauses") }) {
		t.Errorf("the notes do not tell of both sides: %v", report.Notes)
	}
	// A process that is paused does nothing: nothing of its clients is on record except what
	// began before. It goes on a little before the end of the fault is recorded.
	paused := map[int]bool{}
	var since time.Duration
	for _, e := range h.Events {
		switch {
		case e.Type == histories.FaultStart:
			since = e.Time
			for _, p := range e.Fault.Processes {
				paused[p] = true
			}
		case e.Type == histories.FaultStop:
			clear(paused)
		case paused[e.Process] && e.Type == histories.Invoke && (e.Op == histories.Write || e.Op == histories.Release) && e.Time > since+500*time.Millisecond && e.Time < since+3*time.Second:
			t.Errorf("a paused process began a %s, %v after it was stopped", e.Op, e.Time-since)
		}
	}
	if r.Lateness.Lines == 0 || r.Lateness.Worst <= 0 {
		t.Errorf("the lateness of the workers' lines was not measured: %+v", r.Lateness)
	}
}

// A garbage collection, or a signal from another program, stops a process without the run's
// knowledge: its holder may believe in its lease after its session has ended, and the lock is
// not to blame for that.
func TestNobodyIsBlamedForAStopOfAWorkerThatIsNotTheRuns(t *testing.T) {
	cfg := contended(t, target(t, "recipes"), &nemesis.Schedule{})
	dir := t.TempDir()
	self := filepath.Join(dir, "stopped")
	// The client that gets the lock holds it to the end. One worker is stopped for longer than
	// its sessions live, and after it the other one: one of them holds the lock then.
	cfg.Duration, cfg.Mix.Hold = 8*time.Second, 10*time.Minute
	script := `#!/bin/sh
cd '` + dir + `'
wait=0.5
mkdir first 2>&- || wait=4.2
sh -c 'echo $$ >pid-'$wait'; exec env ` + workerEnv + `=1 "` + os.Args[0] + `"' | {
	granted=
	while read -r line; do
		printf '%s\n' "$line"
		case $granted$line in *'"event"'*) ;; '{'*'"token"'*)
			granted=yes
			(pid=$(cat pid-$wait); sleep $wait; kill -STOP $pid; sleep 3.2; kill -CONT $pid) >&- & ;;
		esac
	done
}
`
	if err := os.WriteFile(self, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg.Workers.Command = []string{self}
	r, report, err := drive(t, t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if r.Lateness.Silent < 3*time.Second {
		t.Errorf("a process was silent for %v at most; it was stopped for 3.2 s", r.Lateness.Silent)
	}
	if !violated(report, checker.MutualExclusion) {
		t.Error("no holder believed on: it was not stopped, or no other client got its lock")
	}
	if o := report.Outcome(); o != verdict.Unknown || len(report.Silences) == 0 {
		t.Errorf("the run is %s: %s; the silences are %v", o, report.Reason(), report.Silences)
	}
}

func TestAHolderThatWakesAndBelievesOnIsCaught(t *testing.T) {
	_, report, err := drive(t, t.Context(), contended(t, target(t, "zk-lock"), pauses(
		nemesis.Step{At: time.Second, For: 3 * time.Second},
		nemesis.Step{At: 6 * time.Second, For: 3 * time.Second},
	)))
	if err != nil {
		t.Fatal(err)
	}
	if !violated(report, checker.NoLostUpdatePlain) {
		t.Error("zk.Lock never reports a loss, and yet no client lost an update")
	}
}

func TestAKilledProcessIsACrashOfItsClientsWhoOpenAnew(t *testing.T) {
	cfg := contended(t, target(t, "recipes"), pauses(
		nemesis.Step{At: time.Second, For: time.Second, Fault: "kill-worker"},
		nemesis.Step{At: 4 * time.Second, For: time.Second, Fault: "kill-worker"},
	))
	cfg.Duration = 8 * time.Second
	r, report, h, err := record(t, t.Context(), cfg)
	if err != nil {
		t.Fatal(err)
	}
	if o := report.Outcome(); r.Nemesis.Struck != 2 || o == verdict.Violated || o == verdict.Unknown {
		t.Errorf("%d kills struck; the run is %s: %s", r.Nemesis.Struck, o, report.Reason())
	}
	crashed := map[int]bool{}
	for _, e := range h.Events {
		if e.Type == histories.Crash {
			crashed[e.Process] = true
		}
	}
	for _, e := range h.Events {
		if e.Type != histories.FaultStart {
			continue
		}
		for _, p := range e.Fault.Processes {
			if !crashed[p] {
				t.Errorf("process %d was killed, and no crash is on record", p)
			}
		}
	}
	if len(crashed) != 4 {
		t.Errorf("%d processes crashed, want the 2 clients of each process that was killed", len(crashed))
	}
}

func TestAWorkerThatDiesByItselfFailsTheRunWithItsLastWords(t *testing.T) {
	cfg := contended(t, target(t, "recipes"), &nemesis.Schedule{})
	self := filepath.Join(t.TempDir(), "frail")
	// It lives for a while, and ends as a program does that has no memory left.
	script := "#!/bin/sh\nexec 3<&0\n" + workerEnv + "=1 '" + os.Args[0] + "' <&3 &\nsleep 4\necho out of memory, of all things >&2\nkill -9 $!\nexit 3\n"
	if err := os.WriteFile(self, []byte(script), 0o755); err != nil {
		t.Fatal(err)
	}
	cfg.Workers = remote.Config{N: 1, Command: []string{self}, Logs: t.TempDir()}
	_, _, h, err := record(t, t.Context(), cfg)
	if err == nil || !strings.Contains(err.Error(), "worker 1") || !strings.Contains(err.Error(), "out of memory, of all things") {
		t.Errorf("the run ended with: %v", err)
	}
	crashes := 0
	for _, e := range h.Events {
		if e.Type == histories.Crash {
			crashes++
		}
	}
	if crashes != 4 {
		t.Errorf("%d crashes on record, want one for each of its 4 clients", crashes)
	}
}

func TestAWorkerMayBringItsOwnLock(t *testing.T) {
	script := filepath.Join(t.TempDir(), "hello")
	hello := `{"at":1,"event":"hello","protocol":1,"hosts":{"name":"theirs","description":"a lock","recipes":["mutex"],"promises":{"tokens":true}}}`
	if err := os.WriteFile(script, []byte("#!/bin/sh\necho '"+hello+"'\nread -r all\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	theirs, err := remote.Describe(t.Context(), remote.Config{Command: []string{script}, Logs: t.TempDir()}, lock.Settings{})
	if err != nil || theirs == nil {
		t.Fatal(theirs, err)
	}
	p := theirs.Promises(lock.Settings{SessionTimeout: time.Second})
	if theirs.Name() != "theirs" || !p.Tokens || p.LossBound == 0 {
		t.Errorf("%s promises %+v", theirs.Name(), p)
	}
	ours, err := remote.Describe(t.Context(), workers(t, 1), lock.Settings{})
	if err != nil || ours != nil {
		t.Errorf("a worker of zkverify hosts %v, %v; want what it is asked for", ours, err)
	}
	if _, err := remote.Describe(t.Context(), remote.Config{Command: []string{"/bin/sh", "-c", "echo sorry >&2; exit 1"}, Logs: t.TempDir()}, lock.Settings{}); err == nil || !strings.Contains(err.Error(), "sorry") {
		t.Errorf("a worker that ends at once: %v", err)
	}
	if _, err := remote.Describe(t.Context(), remote.Config{Command: []string{"/bin/sh", "-c", "exit 1"}, Logs: t.TempDir()}, lock.Settings{}); err == nil || !strings.Contains(err.Error(), "it wrote nothing") {
		t.Errorf("a worker that ends without a word: %v", err)
	}
}
