package fault

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// Kind is a family of faults: what a schedule names.
type Kind struct {
	Name        string
	Description string // one line
	// Needs is what it needs of an ensemble. A kind that needs anything is one
	// of servers, of which one at a time is in force at most, unless it is
	// workers; the others hit one client each.
	Needs Need
	// Weight is how often it is drawn, relative to others of its sort.
	Weight int
	// Span is how long it lasts at least and at most, for a session timeout.
	// 0 and 0: it is over as soon as it has begun.
	Span func(sessionTimeout time.Duration) (least, most time.Duration)
	// Make looks at the scene and makes the fault. [ErrNobody] means that
	// the scene has nobody for it at this moment.
	Make func(Scene) (Fault, error)

	Params []Param // what a schedule may decide, else it is drawn
	// Together reports what is wrong with values of Params that are each right by
	// themselves. Nil: nothing can be.
	Together func(params map[string]string) error
	Links    bool // a schedule may say which of the client's links are hit
	Server   bool // a schedule may say which server is hit
	Early    int  // every drawn schedule has it, however short: the lowest is dealt first; 0: it takes its chance
}

// OfServers reports whether the kind is one of servers: everybody is hit.
func (k Kind) OfServers() bool { return k.Needs != NeedsNothing && k.Needs != NeedsWorkers }

// OfClocks reports whether the kind is one of servers' clocks: one at a time is in force at
// most, beside one of any other sort of servers.
func (k Kind) OfClocks() bool { return k.Needs == NeedsClocks }

// Allows reports what the kind cannot make of a pick.
func (k Kind) Allows(p Pick) error {
	if p.Aim != "" && !slices.Contains(Aims(), p.Aim) {
		return fmt.Errorf("aim is %q: want one of %v", p.Aim, Aims())
	}
	if p.Links != "" && p.Links != OneLink && p.Links != AllLinks {
		return fmt.Errorf("links is %q: want %s or %s", p.Links, OneLink, AllLinks)
	}
	if err := p.Server.Check(); err != nil {
		return err
	}
	switch {
	case p.Client != nil && *p.Client < 0:
		return fmt.Errorf("client is %d: clients are numbered from 0", *p.Client)
	case p.Client != nil && k.OfServers():
		return fmt.Errorf("client: fault %s hits servers", k.Name)
	case p.Links != "" && !k.Links:
		return fmt.Errorf("links: fault %s always hits the same ones", k.Name)
	case p.Server != "" && !k.Server:
		return fmt.Errorf("server: fault %s does not hit a server of choice", k.Name)
	}
	for _, name := range slices.Sorted(maps.Keys(p.Params)) {
		i := slices.IndexFunc(k.Params, func(q Param) bool { return q.Name == name })
		if i < 0 {
			return fmt.Errorf("fault %s has no %q to decide", k.Name, name)
		}
		if err := k.Params[i].Check(p.Params[name]); err != nil {
			return err
		}
	}
	if k.Together != nil {
		return k.Together(p.Params)
	}
	return nil
}

// Need is what a kind of fault needs of an ensemble.
type Need string

// The needs.
const (
	NeedsNothing    Need = ""                                                                                 // clients have links of their own with every ensemble
	NeedsPeers      Need = "links between the servers"                                                        // see ensemble.PeerLinks
	NeedsProcesses  Need = "the servers' processes"                                                           // see ensemble.Processes
	NeedsUpgrade    Need = "another version of ZooKeeper that the servers can run (--upgrade-to)"             // see ensemble.Upgradable
	NeedsReconfig   Need = "servers whose membership can be changed (--reconfig)"                             // see ensemble.Reconfigurable
	NeedsPlugs      Need = "servers on a network that they can be taken off"                                  // see ensemble.Pluggable
	NeedsClocks     Need = "the servers' clocks (zkverify sim)"                                               // see ensemble.Clocks
	NeedsFailpoints Need = "failpoints in the servers' code (--ensemble local, with Byteman)"                 // see ensemble.Failpoints
	NeedsWorkers    Need = "clients in processes of their own (--workers, or zkverify sim with zkverify-sim)" // whatever the ensemble; see Workers
)

// MetBy reports whether an ensemble has what is needed.
func (n Need) MetBy(e ensemble.Ensemble) bool {
	switch n {
	case NeedsPeers:
		_, ok := e.(ensemble.PeerLinks)
		return ok && !reconfigurable(e)
	case NeedsProcesses:
		_, ok := e.(ensemble.Processes)
		return ok
	case NeedsUpgrade:
		u, ok := e.(ensemble.Upgradable)
		return ok && u.CanUpgrade()
	case NeedsReconfig:
		return reconfigurable(e)
	case NeedsPlugs:
		_, ok := e.(ensemble.Pluggable)
		return ok
	case NeedsClocks:
		c, ok := e.(ensemble.Clocks)
		return ok && c.HasClocks()
	case NeedsFailpoints:
		f, ok := e.(ensemble.Failpoints)
		return ok && f.HasFailpoints()
	}
	return true
}

// reconfigurable reports whether members of an ensemble can be removed and added: then its
// servers have no links between them.
func reconfigurable(e ensemble.Ensemble) bool {
	r, ok := e.(ensemble.Reconfigurable)
	return ok && r.CanReconfigure()
}

// NotOn is the error of a kind that needs what an ensemble does not have.
func (k Kind) NotOn(e ensemble.Ensemble) error {
	return fmt.Errorf("fault %q needs %s, out of reach with this ensemble (%s)", k.Name, k.Needs, e.Kind())
}

// Timeouts makes a Span in multiples of the session timeout.
func Timeouts(least, most float64) func(time.Duration) (time.Duration, time.Duration) {
	return func(t time.Duration) (time.Duration, time.Duration) {
		return time.Duration(least * float64(t)), time.Duration(most * float64(t))
	}
}

// Instant is the Span of what is over as soon as it has begun.
func Instant(time.Duration) (time.Duration, time.Duration) { return 0, 0 }
