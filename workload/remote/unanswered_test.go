package remote

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/protocol"
	"github.com/zkverify/zkverify/workload/lock"
)

// mute is a worker in a bubble that answers everything but one command, which it may not even
// read, and the connection with it.
type mute struct {
	*connection
	hurry  chan struct{}
	failed error // the error that the connection has ended with

	ends sync.WaitGroup
	in   *io.PipeWriter
}

func muteWorker(t *testing.T, to string, reads bool) *mute {
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	m := &mute{connection: newConnection("worker 1", stdin, newLateness(time.Second)), hurry: make(chan struct{}), in: stdin}
	m.connection.hurry = m.hurry
	m.ends.Go(m.write)
	m.ends.Go(func() {
		defer out.Close()
		fmt.Fprintln(out, `{"at":1,"event":"hello","protocol":1}`)
		lines := bufio.NewScanner(in)
		for lines.Scan() {
			var c protocol.Command
			if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
				t.Error(err)
			}
			switch c.Do {
			case to:
				if !reads {
					return
				}
			case protocol.DoCancel:
			default:
				fmt.Fprintf(out, `{"at":1,"id":%d,"valid":true,"offers":["mutex"]}`+"\n", c.ID)
			}
		}
	})
	m.ends.Go(func() { _ = m.listen(stdout) })
	m.ends.Go(func() { // as a slot attends to its process
		select {
		case m.failed = <-m.connection.failed:
		case <-t.Context().Done():
		}
		m.close(m.failed, func() {})
		_ = stdin.Close()
		_ = in.Close()
	})
	<-m.hello
	return m
}

// A run ends in its time though a worker leaves any of its commands unanswered.
func TestAWorkerThatLeavesACommandUnansweredFails(t *testing.T) {
	const within = protocol.AnswerWithin
	patient := func(t *testing.T, m *mute) context.Context { // as a run opens and closes clients
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		t.Cleanup(cancel)
		select {
		case <-m.hurry:
			cancel()
		default:
		}
		return ctx
	}
	for do, row := range map[string]struct {
		ask  func(t *testing.T, m *mute, c *Client, held lock.Lease)
		took time.Duration
	}{
		protocol.DoEcho:  {func(_ *testing.T, m *mute, _ *Client, _ lock.Lease) { m.askWhetherItRuns(time.Second) }, within},
		protocol.DoValid: {func(_ *testing.T, _ *mute, _ *Client, held lock.Lease) { held.Valid() }, within},
		protocol.DoListen: {func(_ *testing.T, _ *mute, _ *Client, held lock.Lease) {
			held.(lock.RevocableLease).OnRevoke(func() {})
		}, within},
		protocol.DoCrash: {func(_ *testing.T, _ *mute, c *Client, _ lock.Lease) { c.Crash() }, within},
		protocol.DoClose: {func(t *testing.T, m *mute, c *Client, _ lock.Lease) {
			if err := c.Close(patient(t, m)); err != nil {
				t.Errorf("a close after which the process has ended: %v", err)
			}
		}, 3*time.Second + within},
		protocol.DoCensus: {func(_ *testing.T, m *mute, _ *Client, _ lock.Lease) {
			w := &Workers{all: []*slot{{number: 1, process: &workerProcess{connection: m.connection}}}}
			if _, err := w.Goroutines(); err == nil {
				t.Error("what was not answered was counted")
			}
		}, within},
		protocol.DoPromises: {func(t *testing.T, m *mute, _ *Client, _ lock.Lease) {
			one := &slot{number: 1, process: &workerProcess{connection: m.connection}}
			if _, err := one.promises(t.Context(), lock.Settings{}); !errors.Is(err, errWorkerGone) {
				t.Errorf("it promises: %v", err)
			}
		}, within},
		protocol.DoOpen: {func(t *testing.T, m *mute, _ *Client, _ lock.Lease) {
			if _, err := openClient(patient(t, m), m.connection, Opening{}); !errors.Is(err, errWorkerGone) {
				t.Errorf("it opens: %v", err)
			}
		}, 3*time.Second + within},
	} {
		// measure returns the time that the command took. reads: the worker reads the command.
		measure := func(t *testing.T, reads, hurried bool) time.Duration {
			m := muteWorker(t, do, reads)
			c, held := (*Client)(nil), lock.Lease(nil)
			if do != protocol.DoOpen {
				var err error
				if c, err = openClient(t.Context(), m.connection, Opening{}); err != nil {
					t.Fatal(err)
				}
				if held, err = c.Acquire(t.Context(), "lock-0"); err != nil {
					t.Fatal(err)
				}
			}
			if hurried {
				close(m.hurry)
			}
			begun := time.Now()
			row.ask(t, m, c, held)
			took := time.Since(begun)
			m.ends.Wait()
			if m.failed == nil || !strings.Contains(m.failed.Error(), "worker 1 has not answered the command "+do+" ") {
				t.Errorf("it failed with %v", m.failed)
			}
			return took
		}
		t.Run(do, func(t *testing.T) {
			for name, reads := range map[string]bool{"read": true, "not read any more": false} {
				synctest.Test(t, func(t *testing.T) {
					if took := measure(t, reads, false); took != row.took {
						t.Errorf("%s: given up after %v, want %v", name, took, row.took)
					}
				})
			}
			for range 10 { // the clients' contexts end with the run: either may be noticed first
				synctest.Test(t, func(t *testing.T) {
					if took := measure(t, true, true); took != hurryWithin {
						t.Errorf("given up after %v when the run must end, want %v", took, hurryWithin)
					}
				})
			}
		})
	}
}

// An operation that is not answered is the lock's fault: the run gives its client up, and can
// name the command that it has waited for.
func TestAnOperationOfALockThatIsNotAnsweredIsGivenUpWithItsClient(t *testing.T) {
	for _, do := range []histories.Op{histories.Acquire, histories.Release} {
		synctest.Test(t, func(t *testing.T) {
			m := muteWorker(t, string(do), true)
			c, err := openClient(t.Context(), m.connection, Opening{})
			if err != nil {
				t.Fatal(err)
			}
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			defer cancel()
			given := make(chan error)
			go func() {
				lease, err := c.Acquire(ctx, "lock-0")
				if err == nil {
					err = lease.Release(ctx)
				}
				given <- err
			}()
			time.Sleep(time.Minute)
			if got, want := m.unanswered(time.Second), "worker 1 has not answered the command "+string(do); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "for 1m0s") {
				t.Errorf("it says %q, want %q…", got, want)
			}
			c.Tear()
			if err := <-given; !errors.Is(err, lock.ErrCrashed) {
				t.Errorf("given up: %v", err)
			}
			if c.Crash(); m.unanswered(2*time.Minute) != "" {
				t.Error("what is asked for less than a moment counts")
			}
			m.connection.failed <- errors.New("the end")
			m.ends.Wait()
		})
	}
}

func TestWhileAFaultPausesAWorkerNothingIsDue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := muteWorker(t, protocol.DoEcho, true)
		begun := time.Now()
		m.late.pause()
		time.AfterFunc(time.Minute, m.late.resumed)
		_, err := m.ask(t.Context(), protocol.Command{Do: protocol.DoEcho}, nil, nil)
		if took, want := time.Since(begun), time.Minute+protocol.AnswerWithin; !errors.Is(err, errWorkerGone) || took != want {
			t.Errorf("it was given up after %v (%v), want %v", took, err, want)
		}
		m.ends.Wait()
	})
}
