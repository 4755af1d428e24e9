package recipestest

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes"
)

// losses maps the reasons to the functions that cause a loss. LossNotAuthenticated is missing:
// when servers refuse the credentials of a client that connects again, go-zookeeper does not
// report it, and the deadline passes.
var losses = map[recipes.LossReason]func(*Lease){
	recipes.LossSessionExpired: (*Lease).expire,
	recipes.LossDeadlinePassed: (*Lease).passDeadline,
	recipes.LossProcessPaused:  (*Lease).pauseProcess,
	recipes.LossLinkSuspended:  (*Lease).suspendFatally,
	recipes.LossNodeDeleted:    (*Lease).deleteNode,
	recipes.LossClientClosed:   (*Lease).closeClient,
}

// Lose causes the loss of the lease for a reason, and returns when the lease is lost: Lost is
// closed, and Err wraps the reason. Afterwards the network works again, so that the code
// under test can acquire again, unless the reason is LossClientClosed.
//
// Every reason but LossNodeDeleted ends the other leases of the client too. LossLinkSuspended
// needs a client that was made with recipes.WithLossPolicy(recipes.LoseOnSuspend).
// LossNotAuthenticated is not supported: when servers refuse the credentials of a client that
// connects again, the deadline passes.
func (l *Lease) Lose(why recipes.LossReason) {
	l.client.tb.Helper()
	l.mustBeOpen()
	lose := losses[why]
	if lose == nil {
		l.client.tb.Fatalf("recipestest: no test can lose a lease because of %q; the reasons are %q", why, slices.Sorted(maps.Keys(losses)))
	}
	lose(l)
	l.awaitLoss()
	l.client.link.Heal()
	if err := l.Err(); !errors.Is(err, why) {
		l.client.tb.Fatalf("recipestest: %s: %v, not because of %q; was the client made with LoseOnSuspend?", l.Path(), err, why)
	}
}

// LoseUnnoticed makes the servers end the lease's session while the client cannot hear of it, as
// when its process is paused: another client can acquire the lock, while Valid is true and Lost
// is open until the deadline passes. Until then only the holder's token shows that its writes are
// stale.
func (l *Lease) LoseUnnoticed() {
	l.client.tb.Helper()
	l.mustBeOpen()
	l.client.link.Cut()
	l.client.link.Expire()
}

// awaitLoss waits until the lease ends, and fails the test unless that is a loss.
func (l *Lease) awaitLoss() {
	l.client.tb.Helper()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-l.Context().Done():
	case <-late.C:
	}
	select {
	case <-l.Lost():
	default:
		l.client.tb.Fatalf("recipestest: %v, when it should be lost", l)
	}
}

func (l *Lease) expire() {
	l.client.tb.Helper()
	l.client.link.Expire()
	l.client.link.Heal() // ends a suspension, in which the client would not be told
}

func (l *Lease) passDeadline() { l.client.link.Cut() }

// pauseProcess lets time pass for the servers while the client's machine sleeps: a test can
// simulate this pause without a pause of its own process.
func (l *Lease) pauseProcess() {
	l.client.tb.Helper()
	l.client.link.Cut()
	l.client.link.Expire()
	l.client.clock.Sleep(2 * l.client.SessionTimeout())
}

func (l *Lease) suspendFatally() {
	l.client.tb.Helper()
	l.client.link.Refuse()
	l.client.leases.await(func() bool { return l.State() != recipes.Held })
	if l.State() != recipes.Lost {
		l.client.tb.Fatalf("recipestest: %v: only a client with recipes.WithLossPolicy(recipes.LoseOnSuspend) loses a lease so", l)
	}
}

func (l *Lease) deleteNode() {
	l.client.tb.Helper()
	l.client.link.Heal()
	if err := l.client.admin().Delete(l.Node(), -1); err != nil && !errors.Is(err, zk.ErrNoNode) {
		l.client.tb.Fatalf("recipestest: delete %s: %v", l.Node(), err)
	}
}

func (l *Lease) closeClient() {
	l.client.tb.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	if err := l.client.Close(ctx); err != nil {
		l.client.tb.Fatalf("recipestest: %v", err)
	}
}
