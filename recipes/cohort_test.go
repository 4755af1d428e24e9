package recipes

import (
	"fmt"
	"testing"
)

// What a client remembers of locks with a hand-off ends with their last users.
func TestACohortGoesWithItsLastUser(t *testing.T) {
	var c cohorts
	for i := range 100 {
		path := fmt.Sprint("/lock-", i)
		if a, b := c.enter(path), c.enter(path); a != b {
			t.Fatal("two users of a path have two cohorts")
		}
		c.exit(path)
		if len(c.all) != 1 {
			t.Fatalf("%d cohorts while one is used", len(c.all))
		}
		c.exit(path)
		if len(c.all) != 0 {
			t.Fatalf("%d cohorts are left", len(c.all))
		}
	}
}
