package recipes_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

func TestTheSessionTimeoutIsThatOfTheServers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		c := bubbleClient(t, e, "hasty", recipes.WithSessionTimeout(time.Hour))
		if got := c.SessionTimeout(); got == time.Hour || got <= 0 {
			t.Errorf("it is %v", got)
		}
	})
}
