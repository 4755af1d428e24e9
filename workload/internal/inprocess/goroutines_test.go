package inprocess_test

import (
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/internal/inprocess"
	"github.com/zkverify/zkverify/workload/lock"
)

// idler is a target of which some goroutines stay and others come and go.
type idler struct{ lock.Target }

func (idler) stays(until <-chan struct{}) { <-until }

func (idler) beats(until <-chan struct{}) {
	for {
		over := make(chan struct{})
		go idler{}.beat(over)
		select {
		case <-over:
		case <-until:
			<-over
			return
		}
	}
}

func (idler) beat(over chan<- struct{}) {
	time.Sleep(30 * time.Millisecond)
	close(over)
}

func TestGoroutinesThatComeAndGoAreNotKept(t *testing.T) {
	before := inprocess.Goroutines()
	until := make(chan struct{})
	defer close(until)
	for range 5 {
		go idler{}.stays(until)
		go idler{}.beats(until)
	}
	time.Sleep(10 * time.Millisecond)
	if kept := inprocess.GoroutinesKept(t.Context(), before, []lock.Target{idler{}}, 10); kept != 10 {
		t.Errorf("%d are kept of 10 that stay and 5 that come and go", kept)
	}
}
