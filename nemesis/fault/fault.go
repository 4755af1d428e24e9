package fault

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/histories"
)

// Fault is one thing that can be done to a running system and undone again.
type Fault struct {
	Name    string            // the name of its Kind
	Targets []string          // what it hits, for people: "client 3", "server 1"
	Clients []int             // the indexes of the clients it hits, everybody if there are none; no other fault hits them meanwhile
	Servers []int             // the servers that it hits, or whose peer links; at most one such fault is in force
	Clocks  []int             // the servers whose clocks it changes; at most one such fault is in force
	Params  map[string]string // what else was drawn: "latency": "80ms"

	// Reserves are clients that no other fault hits meanwhile, although this one
	// hits everybody: their links are in use.
	Reserves []int

	// Endure is how long those who hold on at all when they are hit should: the fault
	// begins with something else. 0: as long as they like.
	Endure time.Duration

	// HealWithin bounds Start, and Stop again.
	HealWithin time.Duration
	// Start puts the fault in force and returns when it is. After an error
	// Stop is called all the same, to undo what was half done.
	Start func(context.Context) error
	// Stop heals it and returns when it is healed. Its context is not ended by
	// the run's end. Nil when there is nothing to undo.
	Stop func(context.Context) error
	// Came tells what came of it, for the record of its end. It is called after Stop; nil if
	// there is nothing to tell.
	Came func() map[string]string
}

// Record is the fault as histories know it, with what there is to say of this
// edge of it.
func (f Fault) Record(id int, processes []int, edge map[string]string) *histories.Fault {
	params := make(map[string]string)
	maps.Copy(params, f.Params)
	maps.Copy(params, edge)
	return &histories.Fault{ID: id, Name: f.Name, Targets: f.Targets, Processes: processes, Params: params}
}

// HealWithin is how long links get to be cut or healed. It takes them
// milliseconds; the rest is for a machine that is busy with other things.
const HealWithin = 10 * time.Second

// OnLinks makes Start and Stop of a fault that does one thing to several links.
func (f Fault) OnLinks(ls []links.Link, start func(context.Context, links.Link) error) Fault {
	f.HealWithin = HealWithin
	f.Start = func(ctx context.Context) error { return Each(ctx, ls, start) }
	f.Stop = func(ctx context.Context) error {
		return Each(ctx, ls, func(ctx context.Context, l links.Link) error { return l.Heal(ctx) })
	}
	return f
}

// Each does one thing to all links at once, and to all of them even when some
// fail: half a heal is better than none.
func Each(ctx context.Context, ls []links.Link, do func(context.Context, links.Link) error) error {
	errs := make([]error, len(ls))
	var g errgroup.Group
	for i, l := range ls {
		g.Go(func() error {
			errs[i] = do(ctx, l)
			return nil
		})
	}
	_ = g.Wait() // the errors are in errs, all of them
	return errors.Join(errs...)
}

// OnClients completes a fault of a client's links or session: it hits all who share
// them.
func (f Fault) OnClients(c Client) Fault {
	f.Clients, f.Targets = []int{c.Index}, []string{ClientName(c.Index)}
	for _, other := range c.Together {
		if other != c.Index {
			f.Clients, f.Targets = append(f.Clients, other), append(f.Targets, ClientName(other))
		}
	}
	return f
}

// ClientName is how histories name a client.
func ClientName(index int) string { return fmt.Sprintf("client %d", index) }
