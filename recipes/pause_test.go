package recipes_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// pausedHolder is an environment variable of the process that is paused. Its value is the lock's
// path.
const pausedHolder = "RECIPES_TEST_PAUSED_HOLDER"

// etcd #10811, Redisson #2665: after a pause longer than its session timeout, a holder must know
// from the first instruction on that its lease is lost.
func TestEtcd10811APausedHolderKnowsAtOnceWhenItWakes(t *testing.T) {
	needServers(t)
	path := uniquePath(t)
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(self, strings.Join(addrsOf(t), ","))
	cmd.Env = append(os.Environ(), pausedHolder+"="+path)
	cmd.Stderr = os.Stderr
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	lines := bufio.NewScanner(stdout)
	next := func() string {
		if !lines.Scan() {
			t.Fatalf("the holder's process ended: %v", lines.Err())
		}
		return lines.Text()
	}
	if got := next(); got != "held" {
		t.Fatalf("the holder says %q", got)
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	// The lock passes on while the holder sleeps.
	l := acquire(t, within(t), recipes.NewMutex(connect(t, addrsOf(t)), path))
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	if got := next(); got != "woke, valid: false" {
		t.Errorf("the holder says %q", got)
	}
	if got, want := next(), "told: "+fmt.Sprintf("%v: %v", recipes.ErrLeaseLost, recipes.LossProcessPaused); got != want {
		t.Errorf("the holder says %q, want %q", got, want)
	}
	if !l.Valid() {
		t.Error("the new holder lost its lease")
	}
	release(t, l)
}

// holdAndBePaused is the paused process.
func holdAndBePaused(path string) error {
	time.AfterFunc(2*patient, func() { os.Exit(1) }) // in case the test's process cannot kill it
	ctx := context.Background()
	c, err := recipes.Connect(ctx, strings.Split(os.Args[1], ","), recipes.WithSessionTimeout(timeout), recipes.WithServerTick(tick))
	if err != nil {
		return err
	}
	l, err := recipes.NewMutex(c, path).Acquire(ctx)
	if err != nil {
		return err
	}
	last := time.Now() // before the print, since the pause may follow it at once
	fmt.Println("held")
	for {
		valid, now := l.Valid(), time.Now()
		// The process was paused since the last iteration. The limit is less than the timeout,
		// since the servers count from the last heartbeat.
		if now.Sub(last) > timeout/2 {
			// The answer of this iteration may be from before the pause, so ask again.
			fmt.Println("woke, valid:", valid && l.Valid())
			break
		}
		last = now
		time.Sleep(100 * time.Microsecond)
	}
	<-l.Lost()
	fmt.Println("told:", l.Err())
	return c.Close(ctx)
}
