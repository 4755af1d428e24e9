package histories

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"
)

// stallsIn returns the stalls in a history that was recorded with session timeouts of 1 s.
func stallsIn(t *testing.T, path string) (all []Event, of *History) {
	t.Helper()
	h, err := ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range h.Events {
		if e.Type == Stalled {
			if e.Time-e.Since <= Slack(time.Second) {
				t.Errorf("a stall of %v is on record", e.Time-e.Since)
			}
			all = append(all, e)
		}
	}
	return all, h
}

// envRecord names the file in which the test binary, run again, records.
const envRecord = "ZKVERIFY_TEST_RECORD"

// TestRecordUntilKilled is not a test: it is the process that a test below stops.
func TestRecordUntilKilled(t *testing.T) {
	path := os.Getenv(envRecord)
	if path == "" {
		t.Skip("run by TestAProcessThatWasStoppedSaysSoBeforeAnythingElse")
	}
	r, err := Create(path, Header{SessionTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	for { // invokes are on disk at once
		for _, typ := range []Type{Invoke, OK} {
			if _, err := r.Record(Event{Type: typ, Op: Acquire, Lock: "a"}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Millisecond)
	}
}

func TestAProcessThatWasStoppedSaysSoBeforeAnythingElse(t *testing.T) {
	if testing.Short() {
		t.Skip("stops a process for a while")
	}
	path := filepath.Join(t.TempDir(), "h.jsonl")
	child := exec.Command(os.Args[0], "-test.run=^TestRecordUntilKilled$")
	child.Env = append(os.Environ(), envRecord+"="+path)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	events := func() int {
		h, err := ReadFile(path)
		if err != nil {
			return 0
		}
		return len(h.Events)
	}
	grows := func() {
		n := events()
		for deadline := time.Now().Add(20 * time.Second); events() <= n+10; time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) {
				t.Fatal("nothing is recorded")
			}
		}
	}
	const stopped = 300 * time.Millisecond
	grows()
	stop := time.Now()
	if err := child.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	time.Sleep(stopped)
	if err := child.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	most := time.Since(stop)
	grows()
	_ = child.Process.Kill()
	_ = child.Wait() // it was killed
	stalls, _ := stallsIn(t, path)
	for _, e := range stalls {
		if length := e.Time - e.Since; length >= stopped-100*time.Millisecond {
			t.Logf("stopped for %v to %v, on record as %v", stopped, most, length)
			return
		}
	}
	t.Errorf("no stall of %v among %v", stopped, stalls)
}

// slowSink needs a long time for one write.
type slowSink struct {
	sink
	slow chan time.Duration
}

func (s slowSink) Write(b []byte) (int, error) {
	select {
	case d := <-s.slow:
		time.Sleep(d)
	default:
	}
	return s.sink.Write(b)
}

func TestAFileThatTakesNoLineIsAStall(t *testing.T) {
	path := filepath.Join(t.TempDir(), "h.jsonl")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	slow := make(chan time.Duration, 1)
	r, err := newRecorder(slowSink{plainSink{f}, slow}, Header{SessionTimeout: time.Second})
	if err != nil {
		t.Fatal(err)
	}
	const held = 200 * time.Millisecond
	slow <- held
	for _, typ := range []Type{Invoke, Lost, OK} {
		if _, err := r.Record(Event{Type: typ, Op: Acquire, Lock: "a"}); err != nil {
			t.Fatal(err)
		}
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	n, written, refused := r.Counts()
	stalls, h := stallsIn(t, path)
	if n != len(h.Events) || written != n || refused != 0 {
		t.Errorf("%d events recorded, %d written, %d refused, %d read", n, written, refused, len(h.Events))
	}
	for i, e := range h.Events {
		if e.Type == Stalled && e.Time-e.Since >= held {
			if i == 0 || e.Since < h.Events[i-1].Time || h.Events[i+1].Type != Lost {
				t.Errorf("the stall stands between %+v and %+v", h.Events[i-1], h.Events[i+1])
			}
			return
		}
	}
	t.Errorf("no stall of %v among %v", held, stalls)
}
