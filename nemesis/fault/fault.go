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

// Fault is a change of a running system that can be undone again.
type Fault struct {
	Name    string            // the name of its Kind
	Targets []string          // the names of its targets, for people: "client 3", "server 1"
	Clients []int             // the indexes of the clients it hits, every client if empty; no other fault hits them meanwhile
	Servers []int             // the servers that it hits, or whose peer links it hits; at most one such fault is in force
	Clocks  []int             // the servers whose clocks it changes; at most one such fault is in force
	Params  map[string]string // the other details: "latency": "80ms"

	// Reserves are clients that no other fault hits meanwhile, although this fault
	// hits every client: it uses their links.
	Reserves []int

	// Endure is the time for which a holder should keep its lock, if it keeps it when it is
	// hit: the fault needs time before its main effect. 0: as long as the holder wants.
	Endure time.Duration
	// Waits reports whether the fault begins before it hits its clients, whom it then tells by
	// Searcher.Hit.
	Waits bool

	// HealWithin bounds the time of Start, and the time of Stop.
	HealWithin time.Duration
	// Start puts the fault in force and returns when it is. Stop is called even after
	// an error of Start, to undo a partial change.
	Start func(context.Context) error
	// Stop heals the fault and returns when it is healed. Its context is not ended by
	// the run's end. Nil when there is no change to undo.
	Stop func(context.Context) error
	// Came returns the fault's results for the record of its end. It is called after Stop;
	// nil if there are none.
	Came func() map[string]string
}

// Record returns the fault as histories record it, with the parameters of one of its
// edges.
func (f Fault) Record(id int, processes []int, edge map[string]string) *histories.Fault {
	params := make(map[string]string)
	maps.Copy(params, f.Params)
	maps.Copy(params, edge)
	return &histories.Fault{ID: id, Name: f.Name, Targets: f.Targets, Processes: processes, Params: params}
}

// HealWithin bounds the time to cut or heal links. Links need milliseconds; the rest
// is for a busy machine.
const HealWithin = 10 * time.Second

// OnLinks sets Start and Stop of a fault that changes several links in the same way.
func (f Fault) OnLinks(ls []links.Link, start func(context.Context, links.Link) error) Fault {
	f.HealWithin = HealWithin
	f.Start = func(ctx context.Context) error { return Each(ctx, ls, start) }
	f.Stop = func(ctx context.Context) error {
		return Each(ctx, ls, func(ctx context.Context, l links.Link) error { return l.Heal(ctx) })
	}
	return f
}

// Each calls do for all links at once, and for all of them even when some calls
// fail: a partial heal is better than none.
func Each(ctx context.Context, ls []links.Link, do func(context.Context, links.Link) error) error {
	errs := make([]error, len(ls))
	var g errgroup.Group
	for i, l := range ls {
		g.Go(func() error {
			errs[i] = do(ctx, l)
			return nil
		})
	}
	_ = g.Wait() // all errors are in errs
	return errors.Join(errs...)
}

// OnClients completes a fault of a client's links or session: the fault hits all clients
// that share them.
func (f Fault) OnClients(c Client) Fault {
	f.Clients, f.Targets = []int{c.Index}, []string{ClientName(c.Index)}
	for _, other := range c.Together {
		if other != c.Index {
			f.Clients, f.Targets = append(f.Clients, other), append(f.Targets, ClientName(other))
		}
	}
	return f
}

// ClientName returns the name of a client in histories.
func ClientName(index int) string { return fmt.Sprintf("client %d", index) }
