package simulation

import (
	"time"

	"github.com/zkverify/zkverify/ensemble/model/cluster"
	"github.com/zkverify/zkverify/ensemble/model/live"
)

// The choices of the plan orders: of the first choice points after a release, six in a row,
// each with the first three messages that could go next. The others of these points take the
// message that has arrived first.
const (
	orderPoints       = 6
	orderAlternatives = 3
	orderRows         = 3 // the points 1 to 6, 7 to 12, 13 to 18
	ordersOfRow       = 729
	// allOrders is the number of runs that go through all choices.
	allOrders = orderRows * ordersOfRow
)

// orders sends messages in an order that the seed decides, depth first: the last choice changes
// first. The order applies to one release in every virtual second of the run.
func orders(w *world) {
	if w.Locks == 0 {
		w.Locks = 1
	}
	w.Mix.Rest, w.Mix.Hold = 60*time.Millisecond, 10*time.Millisecond
	w.latency = 300 * time.Microsecond
	w.orders = &live.Orders{Order: orderOf(w.seed), Every: time.Second}
}

// orderOf returns the order of a seed.
func orderOf(seed uint64) cluster.Order {
	n := seed % allOrders
	o := cluster.Order{Skip: int(n/ordersOfRow) * orderPoints, Choices: make([]int, orderPoints)}
	for i := orderPoints - 1; i >= 0; i-- {
		o.Choices[i] = int(n % orderAlternatives)
		n /= orderAlternatives
	}
	return o
}
