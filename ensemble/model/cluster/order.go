package cluster

import (
	"slices"
	"time"
)

// Order says in which order messages that have arrived on different connections are taken
// in. Those of one connection and direction keep theirs.
type Order struct {
	// Skip is how many choice points pass first, at which the message goes that has arrived
	// first. A choice point is an instant at which several messages could go next.
	Skip int
	// Choices has for each further choice point which of them goes: 0 is the one that has
	// arrived first. Of fewer the last one goes.
	Choices []int
}

// How messages are held: one goes each orderStep, which is longer than a message takes
// between healthy hosts, so that what it brings about can go next; and for orderLimit at most.
const (
	orderStep  = time.Millisecond
	orderLimit = 150 * time.Millisecond
)

// held is a message that waits for its turn.
type held struct {
	on   *time.Duration // stands for the connection and direction
	at   time.Duration
	what func()
}

// window is the time in which messages are held.
type window struct {
	c      *Cluster
	order  Order
	points int // choice points so far
	ends   time.Duration
	held   []held // in the order in which they were sent
}

// Hold has messages go one after the other from now on, in an order, until its last choice
// is made. It reports false, and does nothing, while messages are held.
func (c *Cluster) Hold(o Order) bool {
	if c.window != nil {
		return false
	}
	c.window = &window{c: c, order: o, ends: c.now + orderLimit}
	c.At(c.now+orderStep, c.window.release)
	return true
}

// Chosen is how many choices of orders were made so far, where there was a choice.
func (c *Cluster) Chosen() int { return c.chosen }

// Carry has a message arrive at an instant, no earlier than the last one of its connection
// and direction. The pointer is to that instant, which is one for each of them.
func (c *Cluster) Carry(arrives *time.Duration, what func()) {
	if c.window == nil {
		c.At(*arrives, what)
		return
	}
	c.window.held = append(c.window.held, held{arrives, *arrives, what})
}

// release has the next message go.
func (w *window) release() {
	c := w.c
	if w.points >= w.order.Skip+len(w.order.Choices) || c.now >= w.ends {
		c.window = nil
		for _, h := range w.held {
			c.At(h.at, h.what)
		}
		return
	}
	if heads := w.heads(c.now); len(heads) > 0 {
		i := heads[w.choose(len(heads))]
		h := w.held[i]
		w.held = slices.Delete(w.held, i, i+1)
		h.what()
	}
	c.At(c.now+orderStep, w.release)
}

// choose returns which of so many messages goes.
func (w *window) choose(of int) int {
	if of < 2 {
		return 0
	}
	w.points++
	i := w.points - 1 - w.order.Skip
	if i < 0 {
		return 0
	}
	w.c.chosen++
	return min(w.order.Choices[i], of-1)
}

// heads are the indexes of the messages that could go now, by when they have arrived: the
// first of each connection and direction.
func (w *window) heads(now time.Duration) (heads []int) {
	seen := map[*time.Duration]bool{}
	for i, h := range w.held {
		if !seen[h.on] && h.at <= now {
			heads = append(heads, i)
		}
		seen[h.on] = true
	}
	slices.SortStableFunc(heads, func(a, b int) int { return int(w.held[a].at - w.held[b].at) })
	return heads
}
