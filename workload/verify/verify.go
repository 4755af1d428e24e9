// Package verify puts a lock of your own through faults, in a Go test:
//
//	func TestMyLock(t *testing.T) {
//		verify.Lock(t, myLock{})
//	}
//
// where myLock is a [lock.Target]: a few methods that open a client, acquire and release.
// workload/examples/mylock is a complete one, of a page, to copy.
package verify

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/lock"
)

// Lock starts three ZooKeeper servers and puts a lock through faults on them. It records the
// operations of its clients and the notifications to them, judges the record, and fails the
// test unless every guarantee that the lock promises holds: it says which two clients held
// which lock at the same time, from when to when, and which fault was active. A guarantee that
// the run has not exercised fails the test too. Lock returns the report, for further checks by
// the test.
//
// A run that fails leaves a folder with the history, the verdicts, the servers'
// logs and report.html, a page for a browser; the test says where. See [Keep].
//
// The servers run on this machine: without Java or ZooKeeper the test fails, and says what to
// install; with [Simulated] it needs neither. Under go test -short it is skipped. An interrupt,
// and the end of the time of go test -timeout, end the run in good order: the faults are
// healed, and the history until then is judged and written.
func Lock(t testing.TB, target lock.Target, options ...Option) *checker.Report {
	t.Helper()
	if testing.Short() {
		t.Skip("verify.Lock takes servers and half a minute, which -short rules out")
	}
	if interrupted.Load() {
		t.Skip("not run: an interrupt has ended the test before")
	}
	s := settings{config: workload.Config{Duration: defaultDuration, SessionTimeout: 2 * time.Second}}
	for _, option := range options {
		option(&s)
	}
	if !s.seeded {
		s.config.Seed = rand.Int64N(1e9) // short enough to type
	}
	s.config.Target = target
	var err error
	if s.config.Recipes, err = workload.SelectRecipes(target, s.recipes); err != nil {
		t.Fatal(err)
	}
	ctx, stop, err := lifetime(t, s.config.Duration)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dir, done, err := s.folder(t)
	if err != nil {
		t.Fatal(err)
	}
	defer done()
	t.Logf("%s: %v of faults, seed %d, in %s", target.Name(), s.config.Duration, s.config.Seed, dir)
	r, err := s.untilShown(ctx, t, dir, func(dir string) (*ran, error) { return s.run(ctx, t, dir) })
	if err != nil {
		t.Fatal(explained(err))
	}
	for _, w := range r.Warnings {
		t.Logf("warning: %s", words.Line(w))
	}
	if text := r.failure(s.config.Seed); text != "" {
		t.Error(text)
	}
	return r.report
}

const defaultDuration = 30 * time.Second

// interrupted reports whether an interrupt has ended a run: the tests after it are skipped.
var interrupted atomic.Bool

// orderly is the time that a run has before the test binary's time is over: for faults to heal,
// for the record to be judged and written, for servers to end.
const orderly = 15 * time.Second

// lifetime returns a context for a run of that duration, which ends with the test, with an
// interrupt, and some time before go test would end the process.
func lifetime(t testing.TB, duration time.Duration) (_ context.Context, stop func(), err error) {
	ctx, cancel := context.WithCancelCause(t.Context())
	stops := []func(){func() { cancel(nil) }}
	stop = func() {
		for _, f := range stops {
			f()
		}
	}
	if limited, ok := t.(interface{ Deadline() (time.Time, bool) }); ok {
		if deadline, ok := limited.Deadline(); ok {
			if left := time.Until(deadline); left < duration+orderly {
				stop()
				return nil, nil, fmt.Errorf("go test ends in %v, which is too early for %v of faults and %v for what comes before and after: give it more time (-timeout)", left.Round(time.Second), duration, orderly)
			}
			timer := time.AfterFunc(time.Until(deadline)-orderly, func() { cancel(errors.New("the time of go test -timeout is nearly over")) })
			stops = append(stops, func() { timer.Stop() })
		}
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	over := make(chan struct{})
	// Ends with stop. A second interrupt ends the process at once.
	go func() {
		select {
		case s := <-signals:
			interrupted.Store(true)
			signal.Stop(signals)
			cancel(fmt.Errorf("signal: %v", s))
		case <-over:
		}
	}()
	stops = append(stops, func() { signal.Stop(signals); close(over) })
	return ctx, stop, nil
}

// folder returns the folder of the run, and a function to call at the end of the test.
func (s *settings) folder(t testing.TB) (dir string, done func(), err error) {
	name := strings.Map(func(r rune) rune {
		if strings.ContainsRune(`/\:*?"<>| `, r) {
			return '_'
		}
		return r
	}, t.Name())
	switch {
	case s.keep != "":
		if err := os.MkdirAll(s.keep, 0o755); err != nil {
			return "", nil, err
		}
		// Two tests of one name may begin in one second.
		for n, stem := 1, time.Now().Format("20060102-150405-")+name; ; n++ {
			dir := filepath.Join(s.keep, stem)
			if n > 1 {
				dir += fmt.Sprintf("-%d", n)
			}
			if err := os.Mkdir(dir, 0o755); !errors.Is(err, os.ErrExist) {
				return dir, func() {}, err
			}
		}
	case keepsArtifacts():
		return t.ArtifactDir(), func() {}, nil
	}
	dir, err = os.MkdirTemp("", "zkverify-"+name+"-")
	return dir, func() {
		if !t.Failed() {
			_ = os.RemoveAll(dir)
		}
		_ = os.Remove(dir) // if nothing is in it: the run has not taken place
	}, err
}

// explained adds advice to an error, where there is any.
func explained(err error) error {
	if errors.Is(err, ensemble.ErrNoJava) || errors.Is(err, ensemble.ErrNoZooKeeper) {
		return fmt.Errorf("%w\nverify.Lock needs Java (11 or newer) and ZooKeeper on this machine. On Debian and Ubuntu: apt-get install openjdk-17-jre-headless zookeeper libslf4j-java. "+
			"On macOS: brew install zookeeper. Elsewhere unpack an Apache release and set ZOOKEEPER_HOME. Or give it servers of yours (verify.On) or simulated ones (verify.Simulated), or skip such tests: go test -short", err)
	}
	return err
}
