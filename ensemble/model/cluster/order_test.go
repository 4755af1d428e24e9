package cluster

import (
	"slices"
	"strings"
	"testing"
	"time"
)

// carried carries five messages, one before the window and two on one connection among
// them, and returns them in the order of their delivery.
func carried(t *testing.T, o Order) string {
	c, err := New(lan, newBench(t, lan))
	if err != nil {
		t.Fatal(err)
	}
	var order strings.Builder
	connections := make([]time.Duration, 3)
	say := func(on int, name string) {
		connections[on] = max(connections[on], c.Now()+100*time.Microsecond)
		c.Carry(&connections[on], func() { order.WriteString(name) })
	}
	say(0, "-")
	if !c.Hold(o) || c.Hold(o) {
		t.Error("messages are held twice")
	}
	for i, name := range []string{"a", "b", "c"} {
		say(i, name)
	}
	say(0, "A")
	c.Advance(c.Now() + time.Second)
	if c.window != nil {
		t.Error("messages are held for ever")
	}
	say(1, ".")
	c.Advance(c.Now() + time.Second)
	return order.String()
}

func TestAllOrdersOfMessagesOnDifferentConnectionsAreGoneThrough(t *testing.T) {
	seen := map[string]bool{}
	for n := range 27 {
		got := carried(t, Order{Choices: []int{n / 9, n / 3 % 3, n % 3}})
		seen[got] = true
		sorted := strings.Split(got, "")
		slices.Sort(sorted)
		if strings.Join(sorted, "") != "-.Aabc" || got[0] != '-' || got[5] != '.' || strings.Index(got, "a") > strings.Index(got, "A") {
			t.Errorf("choices of %d: %s", n, got)
		}
	}
	if len(seen) != 12 { // 4! orders of a, b, c and A, half of them with a before A
		t.Errorf("%d orders: %v", len(seen), seen)
	}
}

func TestWhatIsSkippedGoesAsItHasArrived(t *testing.T) {
	if got := carried(t, Order{Skip: 1, Choices: []int{2}}); got != "-aAbc." {
		t.Errorf("%s", got)
	}
	if got := carried(t, Order{Skip: 100, Choices: []int{2}}); got != "-abcA." {
		t.Errorf("%s", got)
	}
}

// A message that arrives late is not delivered early.
func TestAHeldMessageDoesNotArriveBeforeItsTime(t *testing.T) {
	b := newBench(t, lan)
	at := 20 * time.Millisecond
	var went time.Duration
	b.Hold(Order{Choices: []int{2}})
	b.Carry(&at, func() { went = b.Now() })
	b.Advance(time.Second)
	if went < at || went > at+2*orderStep {
		t.Errorf("the message was delivered at %v", went)
	}
}
