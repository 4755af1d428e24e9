package simulation

import (
	"fmt"
	"testing"
)

func TestOrdersGoesThroughEveryChoiceAsTheSeedGrows(t *testing.T) {
	seen := map[string]bool{}
	for seed := range int64(allOrders) {
		w, err := spec(seed, "orders", "recipes").world()
		if err != nil {
			t.Fatal(err)
		}
		seen[fmt.Sprint(w.orders.Order)] = true
	}
	if len(seen) != allOrders {
		t.Errorf("%d of %d", len(seen), allOrders)
	}
}

// In half a virtual minute there is a release, and a choice of messages after it, about each
// second.
func TestARunOfOrdersChoosesWhichMessageGoesNext(t *testing.T) {
	for _, seed := range []int64{1, 729 + 1, 2*729 + 1} {
		o, _ := run(t, spec(seed, "orders", "recipes"), Look{})
		if o.Choices < 10*orderPoints || !o.Passed() {
			t.Errorf("seed %d: %d choices; %s (%s)", seed, o.Choices, o.Outcome, o.Reason)
		}
	}
	if o, _ := run(t, spec(1, "random", "recipes"), Look{}); o.Choices != 0 {
		t.Errorf("a run of another plan has %d choices", o.Choices)
	}
}
