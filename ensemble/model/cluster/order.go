package cluster

import (
	"slices"
	"time"
)

// Order is an order in which messages that have arrived on different connections are
// delivered. Messages of one connection and direction keep their order.
type Order struct {
	// Skip is the number of choice points to pass first; at those the message that arrived first
	// is delivered. A choice point is an instant at which several messages could be next.
	Skip int
	// Choices has, for each further choice point, the index of the message to deliver: 0 is the
	// one that arrived first. If there are fewer messages, the last one is delivered.
	Choices []int
}

// While messages are held, one is delivered each orderStep, which is longer than a
// message takes between healthy hosts, so that the message that it causes can be next.
// Messages are held for orderLimit at most.
const (
	orderStep  = time.Millisecond
	orderLimit = 150 * time.Millisecond
)

// held is a message that waits for its turn.
type held struct {
	on   *time.Duration // identifies the connection and direction
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

// Hold makes messages go one after the other from now on, in the given order, until its
// last choice is made. It returns false, and does nothing, while messages are held.
func (c *Cluster) Hold(o Order) bool {
	if c.window != nil {
		return false
	}
	c.window = &window{c: c, order: o, ends: c.now + orderLimit}
	c.At(c.now+orderStep, c.window.release)
	return true
}

// Chosen returns the number of choices made so far among several messages.
func (c *Cluster) Chosen() int { return c.chosen }

// Carry delivers a message at an instant, no earlier than the last message of its
// connection and direction. arrives points to that instant; each connection and direction
// has a variable of its own.
func (c *Cluster) Carry(arrives *time.Duration, what func()) {
	if c.window == nil {
		c.At(*arrives, what)
		return
	}
	c.window.held = append(c.window.held, held{arrives, *arrives, what})
}

// release delivers the next message.
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

// choose returns the index of the message to deliver, of so many.
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

// heads returns the indexes of the messages that could be next, in the order of their
// arrival: the first of each connection and direction.
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
