package locks

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// runs runs a shell script under the lock /l.
func (b *bench) runs(script string, flags ...string) answer {
	b.T.Helper()
	var out, said output
	args := append([]string{"run", "--servers", b.addrs, "/l"}, append(flags, "--", "sh", "-c", script)...)
	return runCommand(b.T, b.T.Context(), &Console{Out: &out, Err: &said, In: b.in}, args...)
}

// free checks that no contender is left.
func (b *bench) free(lock string) {
	b.T.Helper()
	if left := b.Children(lock); len(left) > 0 {
		b.T.Errorf("%s has %q", lock, left)
	}
}

// running starts runs, and returns when the script runs.
func (b *bench) running(script string, flags ...string) <-chan answer {
	b.T.Helper()
	ready, done := filepath.Join(b.T.TempDir(), "ready"), make(chan answer, 1)
	go func() { done <- b.runs("touch '"+ready+"'; "+script, flags...) }()
	for _, err := os.Stat(ready); err != nil; _, err = os.Stat(ready) {
		time.Sleep(time.Millisecond)
	}
	return done
}

func TestRunHoldsTheLockWhileTheCommandRuns(t *testing.T) {
	b := newBench(t)
	b.in = strings.NewReader("input")
	script := `cat; echo " $ZKVERIFY_LOCK_PATH $ZKVERIFY_LOCK_TOKEN"; exit 7`
	a := b.runs(script)
	a.want(t, 7, []string{"input /l 0x"}, nil)
	token := strings.Fields(a.out)[2]
	if parsed, err := recipes.ParseToken(token); err != nil || parsed.IsZero() {
		t.Errorf("token %q: %v", token, err)
	}
	b.free("/l")

	// While it runs, others do not get the lock.
	file := filepath.Join(t.TempDir(), "go on")
	done := b.running("until test -e '" + file + "'; do sleep 0.02; done")
	b.runs("echo started", "--try").want(t, exitBusy, nil, []string{"/l is held: the command was not started"})
	b.runs("echo started", "--wait", "50ms").want(t, exitBusy, nil, []string{"/l was not acquired within 50ms"})
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if a := <-done; a.status != 0 {
		t.Errorf("%+v", a)
	}
	b.free("/l")
}

func TestRunTakesAPermit(t *testing.T) {
	b := newBench(t)
	holder, err := recipes.NewSemaphore(b.client("holder"), "/app/l", 2).Acquire(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	b.addrs += "/app"
	b.runs("exit 0", "--semaphore", "2", "--try").want(t, 0, nil, nil)
	b.runs("exit 0", "--semaphore", "1", "--try").want(t, exitBusy, nil, nil)
	if err := holder.Release(t.Context()); err != nil {
		t.Fatal(err)
	}
	b.free("/app/l/leases")
}

func TestRunForwardsSignals(t *testing.T) {
	b := newBench(t)
	ready := filepath.Join(t.TempDir(), "ready")
	done := make(chan answer)
	go func() {
		done <- b.runs(`trap "echo told; exit 3" TERM; touch '` + ready + `'; while :; do sleep 0.02; done`)
	}()
	for _, err := os.Stat(ready); err != nil; _, err = os.Stat(ready) {
		time.Sleep(time.Millisecond)
	}
	if err := syscall.Kill(os.Getpid(), syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	a := <-done
	a.want(t, 3, []string{"told"}, nil)
	b.runs("kill -9 $$").want(t, 128+9, nil, nil)
	b.free("/l")
}

func TestRunEndsTheWholeGroup(t *testing.T) {
	b := newBench(t)
	a := b.runs("sleep 1000 >/dev/null 2>&1 & echo $!")
	a.want(t, 0, nil, nil)
	pid, err := strconv.Atoi(strings.TrimSpace(a.out))
	if err != nil {
		t.Fatal(err)
	}
	for deadline := time.Now().Add(10 * time.Second); syscall.Kill(pid, 0) == nil && !zombie(pid); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatalf("process %d lives", pid)
		}
	}
}

// zombie reports whether a process has ended and nothing has waited for it.
func zombie(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return err == nil && strings.Contains(string(stat), ") Z ")
}

func TestRunKillsTheCommandWhenTheLockIsTakenAway(t *testing.T) {
	b := newBench(t)
	done := b.running(`trap "" TERM; while :; do sleep 0.02; done`)
	if err := b.conn.Delete("/l/"+b.Children("/l")[0], -1); err != nil {
		t.Fatal(err)
	}
	a := <-done
	a.want(t, exitUnsure, nil, []string{"the lease was lost, and the command killed"})
}

// A command that ignores SIGTERM is gone at the lease's deadline, before the servers can give the
// lock to another client.
func TestRunEndsTheCommandBeforeTheLease(t *testing.T) {
	for name, test := range map[string]struct{ script, says string }{
		"one that ends":            {`trap "echo told; exit 0" TERM; while :; do sleep 0.02; done`, "the servers did not confirm the lease: the command was ended"},
		"one that ignores SIGTERM": {`trap "echo told" TERM; while :; do sleep 0.02; done`, "the lease"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := newBench(t)
			done := b.running(test.script, "--grace", "5s") // a busy machine runs the shell late
			node := b.Children("/l")[0]
			b.Client("operator").Cut()
			a := <-done
			a.want(t, exitUnsure, []string{"told"}, []string{"the command gets SIGTERM", test.says})
			if _, there := b.Node("/l/" + node); !there {
				t.Error("the servers have expired the session already")
			}
			b.Client("operator").Heal()
		})
	}
}

func TestRunRefusesBadInputs(t *testing.T) {
	b := newBench(t)
	text := filepath.Join(t.TempDir(), "text")
	if err := os.WriteFile(text, []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	run := func(args ...string) answer {
		var out, said output
		return runCommand(t, t.Context(), &Console{Out: &out, Err: &said, In: b.in}, append([]string{"run", "--servers", b.addrs}, args...)...)
	}
	run("/l", "--", "no-such-program-anywhere").want(t, 127, nil, []string{"no-such-program-anywhere"})
	run("/l", "--", filepath.Join(text, "x")).want(t, 126, nil, []string{"not a directory"})
	run("/l", "--", text).want(t, 126, nil, []string{"permission denied"})
	run("l", "--", "true").want(t, exitUsage, nil, []string{"l"})
	run("/l").want(t, exitUsage, nil, []string{"command"})
	run("--semaphore=-1", "/l", "--", "true").want(t, exitUsage, nil, []string{"--semaphore must be positive"})
	run("--try", "--wait", "1s", "/l", "--", "true").want(t, exitUsage, nil, []string{"--try does not wait"})
	run("--grace", "6s", "/l", "--", "true").want(t, exitUsage, nil, []string{"--grace must be between"})
	if _, there := b.Node("/l"); there {
		t.Error("a refused command has made the lock's node")
	}
	b.addrs = closedPort(t)
	run("--timeout", "100ms", "/l", "--", "true").want(t, exitUnavailable, nil, []string{"no connection to"})
}
