package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// hostileWorker makes the test binary a worker that hangs: it ignores signals, and answers no
// command but echo. When it is asked to open a client, it leaves a process behind that is not in
// its group or session nor a child of it, and writes the process id to the file that the value
// names.
const hostileWorker = "ZKVERIFY_TEST_HOSTILE_WORKER"

func beHostileWorker(file string) {
	signal.Ignore(syscall.SIGTERM, syscall.SIGINT)
	fmt.Println(`{"at":1,"event":"hello","protocol":1,"hosts":{"name":"hostile","description":"","recipes":["mutex"],"promises":{"tokens":true}}}`)
	left := false
	for lines := bufio.NewScanner(os.Stdin); lines.Scan(); {
		_, id, _ := strings.Cut(lines.Text(), `"id":`)
		id, _, _ = strings.Cut(id, ",")
		switch line := lines.Text(); {
		case strings.Contains(line, `"do":"echo"`):
			fmt.Printf(`{"at":1,"id":%s}`+"\n", id)
		case strings.Contains(line, `"do":"open"`) && !left:
			left = true
			_ = exec.Command("setsid", "-f", "sh", "-c", "echo $$ >'"+file+".new'; mv '"+file+".new' '"+file+"'; exec sleep 300").Run()
		}
	}
	select {} // it does not end at the end of its input either
}

// hung starts a run with a hostile worker, and returns when the run waits for the worker.
func hung(t *testing.T) (run *exec.Cmd, said *bytes.Buffer, left int) {
	t.Helper()
	if _, err := os.Stat("/proc/self/environ"); err != nil {
		t.Skip("what has left a worker's group is found only on Linux")
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	t.Cleanup(cancel)
	dir := t.TempDir()
	file := filepath.Join(dir, "left")
	run = exec.CommandContext(ctx, os.Args[0], "run", "--ensemble", "simulated", "--workers", "1", "--worker-command",
		fmt.Sprintf("/usr/bin/env %s='%s' '%s'", hostileWorker, file, os.Args[0]), "--out", filepath.Join(dir, "run"))
	said = new(bytes.Buffer)
	run.Env = append(os.Environ(), asProgram+"=1")
	run.Stdout, run.Stderr = said, said
	if err := run.Start(); err != nil {
		t.Fatal(err)
	}
	for ; left == 0; time.Sleep(10 * time.Millisecond) {
		text, _ := os.ReadFile(file)
		left, _ = strconv.Atoi(strings.TrimSpace(string(text)))
		if ctx.Err() != nil {
			_ = run.Wait()
			t.Fatalf("the run did not ask the worker to open a client:\n%s", said)
		}
	}
	return run, said, left
}

func TestARunEndsByASignalWhateverItsWorkerDoes(t *testing.T) {
	t.Parallel()
	for _, sig := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT} {
		t.Run(sig.String(), func(t *testing.T) {
			t.Parallel()
			run, said, left := hung(t)
			if err := run.Process.Signal(sig); err != nil {
				t.Fatal(err)
			}
			_ = run.Wait()
			if status := run.ProcessState.ExitCode(); status != exitUnknown {
				t.Errorf("the exit status is %d, want %d", status, exitUnknown)
			}
			if want := "warning: worker 1 has not answered the command open"; !strings.Contains(said.String(), want) {
				t.Errorf("it does not say %q:\n%s", want, said)
			}
			if stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", left)); err == nil && !strings.Contains(string(stat), ") Z ") {
				t.Errorf("process %d of the worker's is left", left)
				_ = syscall.Kill(left, syscall.SIGKILL)
			}
		})
	}
}

func TestASecondSignalEndsARunAtOnce(t *testing.T) {
	t.Parallel()
	run, said, left := hung(t)
	defer func() { _ = syscall.Kill(left, syscall.SIGKILL) }()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_ = run.Wait()
	}()
	for waiting := true; waiting; {
		_ = run.Process.Signal(syscall.SIGTERM)
		select {
		case <-ended:
			waiting = false
		case <-time.After(50 * time.Millisecond):
		}
	}
	if status, ok := run.ProcessState.Sys().(syscall.WaitStatus); !ok || !status.Signaled() || status.Signal() != syscall.SIGTERM {
		t.Errorf("it ended with %v:\n%s", run.ProcessState, said)
	}
}
