package remote

import (
	"io"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// stoppable blocks writes to it while it is locked.
type stoppable struct {
	sync.Mutex
	io.Writer
}

func (s *stoppable) Write(b []byte) (int, error) {
	s.Lock()
	defer s.Unlock()
	return s.Writer.Write(b)
}

func TestAStopIsASilence(t *testing.T) {
	connection, _, die := hostedMemory(t)
	way := &stoppable{Writer: connection.in}
	connection.in = way
	var asking sync.WaitGroup
	asking.Go(func() { connection.askWhetherItRuns(20 * time.Millisecond) })
	asked := func(since int64) {
		t.Helper()
		for end := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
			connection.late.mu.Lock()
			ran := connection.late.ran
			connection.late.mu.Unlock()
			if ran > since {
				return
			}
			if time.Now().After(end) {
				t.Fatal("it is not asked")
			}
		}
	}
	asked(protocol.Now())
	way.Lock()
	stopped := protocol.Now()
	time.Sleep(300 * time.Millisecond)
	way.Unlock()
	asked(stopped + int64(300*time.Millisecond))
	if got := sum([]*lateness{connection.late}).Silent; got < 250*time.Millisecond {
		t.Errorf("silent for %v; it was stopped for 300 ms", got)
	}
	die()
	asking.Wait() // it ends with the connection
	if connection.late.ran != 0 {
		t.Error("what comes after the end of a connection counts as a silence")
	}
}

func TestAWorkerThatNeverSaysHelloIsNotAsked(t *testing.T) {
	connection := newConnection("worker 1", make(asked), newLateness(time.Second)) // a write would never end
	connection.close(nil, func() {})
	connection.askWhetherItRuns(time.Millisecond)
}
