package inprocess_test

import (
	"testing"
	"testing/synctest"
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
	synctest.Test(t, func(t *testing.T) {
		before, targets := inprocess.Goroutines(), []lock.Target{idler{}}
		until := make(chan struct{})
		defer func() { close(until); time.Sleep(time.Second) }() // in which the last beats end
		for range 5 {
			go idler{}.stays(until)
			go idler{}.beats(until)
		}
		synctest.Wait()
		if now := len(inprocess.GoroutinesOf(before, targets)); now != 15 {
			t.Errorf("%d are there, not 15", now)
		}
		if kept := inprocess.GoroutinesKept(t.Context(), before, targets, 10); kept != 10 {
			t.Errorf("%d are kept of 10 that stay and 5 that come and go", kept)
		}
	})
}
