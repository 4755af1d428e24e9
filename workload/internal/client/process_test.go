package client

import (
	"context"
	"errors"
	"net"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload/internal/inprocess"
)

func TestAKilledProcessCrashesItsClientsAndOpensNoneUntilItsStart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, b, target, events := couple(t)
		processes := Processes{a, b}
		if processes.of(1) != a.app || b.app.number() != 1 {
			t.Error("the process of the two is not the first")
		}
		processes.Kill(1)
		a.Background.Wait()
		if target.crashed != 1 {
			t.Errorf("the client of the target crashed %d times", target.crashed)
		}
		late := &sharing{}
		if a.app.opened(late, inprocess.NewWire(nil, new(net.Dialer), 0, 1), func() {}) {
			t.Error("what was being opened was taken into use")
		}
		impatient, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := a.app.awaitStart(impatient); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("before the start: %v", err)
		}
		time.AfterFunc(time.Second, func() { _ = processes.Start(t.Context(), 1) })
		if err := a.app.awaitStart(t.Context()); err != nil {
			t.Error(err)
		}
		if !a.app.opened(late, inprocess.NewWire(nil, new(net.Dialer), 0, 1), func() {}) {
			t.Error("after the start nothing is taken into use")
		}
		crashed := map[int]bool{}
		for _, e := range events() {
			crashed[e.Process] = crashed[e.Process] || e.Type == histories.Crash
		}
		if !crashed[0] || !crashed[1] {
			t.Errorf("on record as crashed: %v", crashed)
		}
	})
}
