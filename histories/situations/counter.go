package situations

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// Counter counts the situations of one run. One goroutine at a time may use it.
type Counter struct {
	view   view
	names  []string
	kinds  []detector
	counts []int
}

// NewCounter returns a counter of a run whose history has this header. traced says that it will be
// told the requests of clients and the changes of servers.
func NewCounter(header *histories.Header, traced bool) *Counter {
	c := &Counter{view: newView(header)}
	recipes := recipesOf(header)
	for _, k := range kinds() {
		if k.Of(recipes) && (traced || !k.Traced) {
			c.names, c.kinds = append(c.names, k.Name), append(c.kinds, k.begin())
		}
	}
	c.counts = make([]int, len(c.names))
	return c
}

// recipesOf returns the recipes of a history.
func recipesOf(h *histories.Header) (all []histories.Recipe) {
	for _, l := range h.Locks {
		if !slices.Contains(all, l.Recipe) {
			all = append(all, l.Recipe)
		}
	}
	if all == nil {
		all = append(all, h.RecipeOf(""))
	}
	return all
}

// Counts returns the number of occurrences of each situation so far.
func (c *Counter) Counts() Counts {
	all := Counts{}
	for i, name := range c.names {
		all[name] = c.counts[i]
	}
	return all
}

// Event takes the next event. It keeps no reference to e.
func (c *Counter) Event(e *histories.Event) {
	if e.Type == histories.Says || e.Type == histories.ServerSeen {
		return // half of all events, of which no situation consists
	}
	for i, d := range c.kinds {
		if d.event != nil && d.event(&c.view, e) {
			c.counts[i]++
		}
	}
	c.view.event(e)
}

// Call takes the next request.
func (c *Counter) Call(x *Call) {
	for i, d := range c.kinds {
		if d.call != nil && d.call(&c.view, x) {
			c.counts[i]++
		}
	}
	c.view.call(x)
}

// Change takes the next change of a node.
func (c *Counter) Change(x *Change) {
	for i, d := range c.kinds {
		if d.change != nil && d.change(&c.view, x) {
			c.counts[i]++
		}
	}
	c.view.change(x)
}
