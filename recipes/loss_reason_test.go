package recipes_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

func TestALeaseSaysWhyItWasLost(t *testing.T) {
	for _, c := range []struct {
		reason  recipes.LossReason
		lose    func(t *testing.T, e *zktest.Ensemble, c *recipes.Client, l *recipes.Lease)
		options []recipes.Option
	}{
		{recipes.LossSessionExpired, func(_ *testing.T, e *zktest.Ensemble, _ *recipes.Client, _ *recipes.Lease) {
			e.Client("holder").Expire()
		}, nil},
		{recipes.LossDeadlinePassed, func(_ *testing.T, e *zktest.Ensemble, _ *recipes.Client, _ *recipes.Lease) {
			e.Client("holder").Cut()
		}, nil},
		{recipes.LossLinkSuspended, func(_ *testing.T, e *zktest.Ensemble, _ *recipes.Client, _ *recipes.Lease) {
			e.Client("holder").Disconnect()
		}, []recipes.Option{recipes.WithLossPolicy(recipes.LoseOnSuspend)}},
		{recipes.LossNodeDeleted, func(t *testing.T, e *zktest.Ensemble, _ *recipes.Client, l *recipes.Lease) {
			if err := bubbleClient(t, e, "administrator").Conn().Delete(l.Node(), -1); err != nil {
				t.Error(err)
			}
		}, nil},
		{recipes.LossClientClosed, func(t *testing.T, _ *zktest.Ensemble, c *recipes.Client, _ *recipes.Lease) {
			if err := c.Close(t.Context()); err != nil {
				t.Error(err)
			}
		}, nil},
	} {
		t.Run(string(c.reason), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				e := zktest.Start(t)
				client := bubbleClient(t, e, "holder", append(c.options, recipes.WithSessionTimeout(2*time.Second))...)
				l := acquire(t, t.Context(), recipes.NewMutex(client, "/l"))
				if err := l.Err(); err != nil {
					t.Errorf("while it is held: %v", err)
				}
				c.lose(t, e, client, l)
				<-l.Lost()
				var why recipes.LossReason
				if err := l.Err(); !errors.As(err, &why) || why != c.reason || !errors.Is(err, recipes.ErrLeaseLost) || !strings.HasSuffix(err.Error(), ": "+string(c.reason)) {
					t.Errorf("it was lost since %v, %q", err, why)
				}
				_ = l.Release(context.Background())
				if err := l.Err(); !errors.Is(err, recipes.ErrLeaseLost) {
					t.Errorf("after its release: %v", err)
				}
			})
		})
	}
	t.Run("released", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			client := bubbleClient(t, zktest.Start(t), "holder")
			l := acquire(t, t.Context(), recipes.NewMutex(client, "/l"))
			release(t, l)
			if err := l.Err(); !errors.Is(err, recipes.ErrNotHeld) {
				t.Errorf("it is over since %v", err)
			}
		})
	})
}
