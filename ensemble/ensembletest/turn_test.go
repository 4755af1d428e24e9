package ensembletest_test

import (
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

const takerEnv = "ZKVERIFY_TURN_TAKER"

func TestMain(m *testing.M) {
	if os.Getenv(takerEnv) == "" {
		os.Exit(func() int {
			// The turn of these tests alone, not of the machine.
			dir, err := os.MkdirTemp("", "zkverify-turn-")
			if err != nil {
				panic(err)
			}
			defer os.RemoveAll(dir)
			os.Setenv("TMPDIR", dir)
			return m.Run()
		}())
	}
	if _, err := ensembletest.TakeTurn(); err != nil {
		panic(err)
	}
	_, _ = os.Stdout.WriteString("mine\n")
	_, _ = os.Stdin.Read(make([]byte, 1)) // until the parent closes it
}

// Parallel tests have the turn one after the other; subtests have their parent's.
func TestOneTestAtATimeHasTheTurn(t *testing.T) {
	var have atomic.Int32
	for range 8 {
		t.Run("", func(t *testing.T) {
			t.Parallel()
			ensembletest.Turn(t)
			t.Run("", func(t *testing.T) { ensembletest.Turn(t) })
			if n := have.Add(1); n != 1 {
				t.Errorf("%d tests have it", n)
			}
			have.Add(-1)
		})
	}
}

// Another process has the turn until it ends, in any way.
func TestOneProcessAtATimeHasTheTurn(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), os.Args[0])
	cmd.Env = append(os.Environ(), takerEnv+"=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := out.Read(make([]byte, 5)); err != nil {
		t.Fatal(err)
	}
	took := make(chan error, 1)
	// Ends when it has the turn.
	go func() {
		end, err := ensembletest.TakeTurn()
		if err == nil {
			end()
		}
		took <- err
	}()
	select {
	case err := <-took:
		t.Fatalf("this process had the turn while the other one had it, error %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := <-took; err != nil {
		t.Error(err)
	}
}
