package child_test

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/zkverify/zkverify/ensemble/child"
)

// piped starts a shell, whose log is at the path.
func piped(t *testing.T, script string) (p *child.Piped, log *child.Log) {
	t.Helper()
	log, err := child.CreateLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	s := child.NewSpawner()
	if p, err = s.StartPiped(exec.Command("/bin/sh", "-c", script), log); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = p.Kill()
		_, _ = p.In.Close(), p.Out.Close()
		s.Close()
		if err := log.Close(); err != nil {
			t.Error(err)
		}
	})
	return p, log
}

func TestAPipedProcessIsTalkedWith(t *testing.T) {
	p, log := piped(t, "read -r word; echo \"$word!\"; echo oh dear >&2")
	if _, err := p.In.WriteString("hello\n"); err != nil {
		t.Fatal(err)
	}
	if line, err := bufio.NewReader(p.Out).ReadString('\n'); line != "hello!\n" {
		t.Errorf("the process answers %q, %v", line, err)
	}
	<-p.Done()
	if err := p.Kill(); err != nil || log.LastLines(1) != "  oh dear" {
		t.Errorf("%v; its log ends with %q", err, log.LastLines(1))
	}
}

// Each of these has left the group, session and family of the process when the process is
// killed; one keeps the output open, and one starts other processes all the time.
func TestAKillTakesWhatHasLeftTheGroup(t *testing.T) {
	for name, child := range map[string]string{
		"orphaned":               "sleep 300",
		"in a group of its own":  "set -m; sleep 300 & wait",
		"starting others anew":   "while :; do sleep 0.01; done",
		"writing what it can":    "while :; do echo noise; echo noise >&2; done",
		"ignoring other signals": "trap '' TERM HUP INT; while :; do sleep 1; done",
	} {
		t.Run(name, func(t *testing.T) {
			p, _ := piped(t, `setsid sh -c 'echo $$; ( `+child+` ) & wait' & exit`)
			<-p.Done()
			line, err := bufio.NewReader(p.Out).ReadString('\n')
			if err != nil {
				t.Fatal(err)
			}
			pid, err := strconv.Atoi(strings.TrimSpace(line))
			if err != nil {
				t.Fatal(err)
			}
			if _, err := os.Stat("/proc/" + strconv.Itoa(pid)); err != nil {
				t.Fatal("the process has left no child behind:", err)
			}
			if err := p.Kill(); err != nil {
				t.Error(err)
			}
			ended(t, pid)
		})
	}
}

// A process without the mark is not found. Kill does not wait for it, though it holds the
// output open.
func TestAKillDoesNotWaitForWhatItCannotFind(t *testing.T) {
	p, _ := piped(t, `env -i PATH="$PATH" setsid sh -c 'echo $$; exec sleep 300' & exit`)
	line, err := bufio.NewReader(p.Out).ReadString('\n')
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if _, err := p.Out.Read(make([]byte, 1)); err == nil {
		t.Error("its output has not ended")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Error("the process without the mark was found:", err)
	}
}

func TestAKillTakesNothingElse(t *testing.T) {
	other, _ := piped(t, "sleep 300")
	mine := exec.Command("sleep", "300")
	if err := mine.Start(); err != nil {
		t.Fatal(err)
	}
	p, _ := piped(t, "sleep 300")
	if err := p.Kill(); err != nil {
		t.Error(err)
	}
	if !other.Alive() {
		t.Error("another one was killed too")
	}
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(mine.Process.Pid) + "/stat")
	if err != nil || strings.Contains(string(stat), ") Z ") {
		t.Errorf("a process that this one has started was killed too: %s%v", stat, err)
	}
	_ = mine.Process.Kill()
	_ = mine.Wait()
}
