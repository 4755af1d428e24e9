package remote

import (
	"context"
	"errors"
	"io"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/lock"
)

func TestTheDeathOfAWorkerEndsEveryCall(t *testing.T) {
	for stage, do := range map[string]func(c *Client, held lock.Lease) error{
		"while an acquire waits": func(c *Client, _ lock.Lease) error {
			_, err := c.Acquire(context.Background(), "lock-0")
			return err
		},
		"before a release": func(_ *Client, held lock.Lease) error { return held.Release(context.Background()) },
		"before its lease is asked": func(_ *Client, held lock.Lease) error {
			if held.Valid() {
				return nil
			}
			return errWorkerGone
		},
		"before a client opens": func(c *Client, _ lock.Lease) error {
			_, err := openClient(context.Background(), c.connection, Opening{Target: "memory"})
			return err
		},
		"before its good-bye": func(c *Client, _ lock.Lease) error {
			if err := c.Close(context.Background()); err != nil {
				return err
			}
			return errWorkerGone // the process has ended, so there is no good-bye, which is fine
		},
	} {
		t.Run(stage, func(t *testing.T) {
			connection, _, die := hostedMemory(t)
			c := openMemory(t, connection)
			held, err := c.Acquire(t.Context(), "lock-0")
			if err != nil {
				t.Fatal(err)
			}
			failed := make(chan error, 1)
			if stage == "while an acquire waits" {
				go func() { failed <- do(c, held) }()
				for waiting := false; !waiting; time.Sleep(time.Millisecond) {
					connection.mu.Lock()
					waiting = len(connection.calls) == 1
					connection.mu.Unlock()
				}
				die()
			} else {
				die()
				<-connection.over
				failed <- do(c, held)
			}
			if err := <-failed; !errors.Is(err, errWorkerGone) {
				t.Errorf("it ended with %v", err)
			}
			<-held.Lost()
			if c.Awake() || !c.Gone() {
				t.Error("the client is there")
			}
			c.Crash() // does not wait
		})
	}
}

func TestTheCrashIsOnRecordBeforeAnybodyLearnsOfIt(t *testing.T) {
	connection := newConnection("worker 1", io.Discard, newLateness(time.Second))
	lease := &lease{lost: make(chan struct{})}
	connection.leases[1] = lease
	told := false
	connection.register(&Client{connection: connection, opening: Opening{Died: func(*Client) {
		told = true
		select {
		case <-lease.Lost():
			t.Error("the lease is lost before the crash is on record")
		case <-connection.over:
			t.Error("calls fail before the crash is on record")
		default:
		}
	}}})
	connection.close(nil, func() {})
	if <-lease.Lost(); !told {
		t.Error("the client was not told")
	}
}
