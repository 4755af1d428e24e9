package session

import (
	"errors"
	"strings"
	"sync"
	"testing"
	"time"
)

// A server of which nothing is known is noted once. Its last error stays until there is a
// connection.
func TestTheLastErrorOfEachServerIsTold(t *testing.T) {
	var f failures
	ended, refused := errors.New("ended"), errors.New("b: refused")
	if err := f.noSession(ended); err != ended {
		t.Errorf("nothing is known: %v", err)
	}
	f.attempting("b")
	f.attempting("a")
	f.failed("b", refused)
	f.attempting("b")
	err := f.noSession(ended)
	if !errors.Is(err, ended) || !errors.Is(err, refused) || !strings.Contains(err.Error(), "(last: a: no answer yet; b: refused)") {
		t.Errorf("got %v", err)
	}
	f.succeeded()
	if err := f.noSession(ended); err != ended {
		t.Errorf("there has been a connection: %v", err)
	}
}

// Sessions of one client note failures at the same time. They sleep: another
// synchronization between them would hide from the race detector that a lock is missing.
func TestSessionsNoteFailuresAtOnce(t *testing.T) {
	var f failures
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for range 20 {
				time.Sleep(time.Duration(i) * time.Millisecond)
				f.attempting("a")
				f.failed("b", errors.New("refused"))
				_ = f.noSession(nil)
				f.succeeded()
			}
		})
	}
	all.Wait()
}
