package recipes_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/ensemble/ensembletest"
	"github.com/zkverify/zkverify/recipes"
)

// With readonlymode.enabled a server that has lost its quorum answers the reads of clients that
// asked for read-only sessions. The locks do not ask: such a server gives them no session, the
// holder is told that it lost its lock, a waiter goes on to wait, and a call whose context ends
// says which server sent it away. Once there is a quorum the lock is granted again.
func TestReadOnlyServersGrantNothing(t *testing.T) {
	ensembletest.EveryNight(t)
	needReal(t, "simulated servers have no read-only mode")
	own := ensembletest.Start(t, ensemble.LocalConfig{TickTime: tick, Properties: []string{"readonlymode.enabled=true"}})
	path := uniquePath(t)
	lost, back := make(chan struct{}, 8), make(chan struct{}, 8)
	holder, waiter := connect(t, addressesOf(own)), connect(t, addressesOf(own))
	late := connect(t, addressesOf(own), recipes.WithConnectionListener(func(s recipes.ConnectionState) {
		switch s {
		case recipes.ConnReconnected:
			back <- struct{}{}
		case recipes.ConnLost:
			lost <- struct{}{}
		}
	}))
	lease := acquire(t, within(t), recipes.NewMutex(holder, path))
	waiting := acquiring(t.Context(), recipes.NewMutex(waiter, path))
	conn := adminAt(t, addressesOf(own))
	eventually(t, "it waits", func() bool { return len(contenders(t, conn, path)) == 2 })

	for _, s := range own.Servers()[1:] {
		if err := own.Kill(t.Context(), s.ID); err != nil {
			t.Fatal(err)
		}
	}
	alone := own.Servers()[0]
	for ctx := within(t); ; time.Sleep(tick) {
		if mode, _ := ensemble.Four(ctx, alone, "isro"); mode == "ro" {
			break
		}
		if ctx.Err() != nil {
			t.Fatal("the server that is left does not become read-only")
		}
	}
	select {
	case <-lease.Lost():
	case <-time.After(patient):
		t.Error("the holder is not told")
	}
	<-lost
	for len(back) > 0 {
		<-back // before the server knew that it is alone
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*timeout)
	defer cancel()
	if l, err := recipes.NewMutex(late, path+"-other").Acquire(ctx); err == nil || !strings.Contains(err.Error(), alone.Addr) {
		t.Errorf("a read-only server: %v, %v", l, err)
	}
	if len(back) > 0 {
		t.Error("the client had a session at a read-only server")
	}
	select {
	case r := <-waiting:
		t.Fatalf("without a quorum: %v, %v", r.lease, r.err)
	default:
	}

	for _, s := range own.Servers()[1:] {
		go func() { _ = own.Restart(t.Context(), s.ID) }() // each waits for a quorum; the grant tells
	}
	release(t, (<-waiting).ok(t))
	release(t, acquire(t, within(t), recipes.NewMutex(late, path)))
}
