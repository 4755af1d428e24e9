package slogobserver_test

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/recipes/recipestest"
	"github.com/zkverify/zkverify/recipes/slogobserver"
)

// The log of a loss has the lease's LossReason.
func TestALossIsLoggedWithItsReason(t *testing.T) {
	for _, why := range []recipes.LossReason{recipes.LossDeadlinePassed, recipes.LossProcessPaused} {
		var log bytes.Buffer
		synctest.Test(t, func(t *testing.T) {
			logger := slog.New(slog.NewTextHandler(&log, nil))
			recipestest.NewLease(t, recipes.WithObserver(slogobserver.New(logger))).Lose(why)
		})
		if want := `reason="` + string(why) + `"`; strings.Count(log.String(), want) != 1 {
			t.Errorf("no %s in %s", want, &log)
		}
	}
}
