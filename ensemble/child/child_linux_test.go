package child_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/zkverify/zkverify/ensemble/child"
)

func TestMain(m *testing.M) {
	if os.Getenv("ZKVERIFY_TEST_PARENT") != "" {
		beParent()
	}
	goleak.VerifyTestMain(m)
}

// beParent starts a child, prints its number and is killed.
func beParent() {
	p, err := child.NewSpawner().Start(exec.Command("sleep", "300"))
	if err != nil {
		os.Exit(1)
	}
	os.Stdout.WriteString(strconv.Itoa(p.PID()) + "\n")
	time.Sleep(5 * time.Minute)
}

func start(t *testing.T, command string) *child.Process {
	t.Helper()
	s := child.NewSpawner()
	t.Cleanup(s.Close)
	p, err := s.Start(exec.Command("/bin/sh", "-c", command))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Kill)
	return p
}

// ended waits for the end of a process, which may be the child of any parent. A process
// that has ended counts even before its parent has waited for it.
func ended(t *testing.T, pid int) {
	t.Helper()
	deadline := time.Now().Add(10 * time.Second)
	for ; time.Now().Before(deadline); time.Sleep(5 * time.Millisecond) {
		stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
		if err != nil || strings.Contains(string(stat), ") Z ") {
			return
		}
	}
	t.Errorf("process %d is still there", pid)
}

func TestAProcessSaysHowItEnded(t *testing.T) {
	for command, well := range map[string]bool{"exit 0": true, "exit 3": false} {
		p := start(t, command)
		<-p.Done()
		if (p.Err() == nil) != well || p.Alive() {
			t.Errorf("%s: error %v, alive %v", command, p.Err(), p.Alive())
		}
		if err := p.Stop(t.Context()); !errors.Is(err, child.ErrEnded) {
			t.Errorf("stopping a process that has ended: %v", err)
		}
		if err := p.Continue(); !errors.Is(err, child.ErrEnded) {
			t.Errorf("continuing a process that has ended: %v", err)
		}
	}
	s := child.NewSpawner()
	defer s.Close()
	if _, err := s.Start(exec.Command("/no/such/program")); err == nil {
		t.Error("a program that is not there was started")
	}
}

func TestAStoppedProcessStandsStillUntilItIsContinued(t *testing.T) {
	file := filepath.Join(t.TempDir(), "ticks")
	p := start(t, "while :; do echo x >> "+file+"; sleep 0.01; done")
	size := func() int64 {
		info, err := os.Stat(file)
		if err != nil {
			return 0
		}
		return info.Size()
	}
	grows := func(from int64) {
		t.Helper()
		for deadline := time.Now().Add(10 * time.Second); size() <= from; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("the process does nothing")
			}
		}
	}
	grows(0)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	still := size() // the shell writes the file itself, not through a child
	time.Sleep(100 * time.Millisecond)
	if size() != still {
		t.Error("the process goes on although it was stopped")
	}
	if !p.Alive() {
		t.Error("the process has ended")
	}
	if err := p.Continue(); err != nil {
		t.Fatal(err)
	}
	grows(still)
	if err := p.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	p.Kill() // also if it stands still
	if p.Alive() || p.Err() == nil {
		t.Errorf("after a kill: alive %v, error %v", p.Alive(), p.Err())
	}
}

func TestAKillTakesTheWholeGroup(t *testing.T) {
	file := filepath.Join(t.TempDir(), "pid")
	p := start(t, "sleep 300 & echo $! > "+file+"; wait")
	var pid int
	for deadline := time.Now().Add(10 * time.Second); pid == 0; time.Sleep(5 * time.Millisecond) {
		text, _ := os.ReadFile(file)
		pid, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		if time.Now().After(deadline) {
			t.Fatal("the process started no child")
		}
	}
	p.Kill()
	ended(t, pid)
}

func TestAStopThatDoesNotComeAboutEndsWithItsContext(t *testing.T) {
	p := start(t, "sleep 300")
	ctx, cancel := context.WithCancelCause(t.Context())
	cause := errors.New("enough")
	cancel(cause)
	// It may stand still at once.
	if err := p.Stop(ctx); err != nil && !errors.Is(err, cause) {
		t.Error(err)
	}
}

func TestAChildDiesWithItsParent(t *testing.T) {
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), "ZKVERIFY_TEST_PARENT=1")
	out, err := parent.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := parent.Start(); err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Fatal("the child is not there:", err)
	}
	if err := parent.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = parent.Wait()
	ended(t, pid)
}

func TestTheLastLinesOfALog(t *testing.T) {
	log := filepath.Join(t.TempDir(), "log")
	if err := os.WriteFile(log, []byte("a\nb\nc\n\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[int]string{2: "  b\n  c", 9: "  a\n  b\n  c"} {
		if got := child.LastLines(log, n); got != want {
			t.Errorf("the last %d: %q, want %q", n, got, want)
		}
	}
	if got := child.LastLines(log+"-none", 2); !strings.Contains(got, "no such file") {
		t.Errorf("of no log: %q", got)
	}
}
