package fault

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// Kind is a family of faults. A schedule names its faults by kind.
type Kind struct {
	Name        string
	Description string // one line
	// Needs is the capability that the kind needs of an ensemble. A kind with any need
	// except workers is a kind of servers: at most one such fault is in force at a time.
	// Each fault of another kind hits one client.
	Needs Need
	// Weight is the frequency with which it is drawn, relative to others of its sort.
	Weight int
	// Span returns the least and the greatest duration of the fault, for a session timeout.
	// 0 and 0: the fault is over as soon as it has begun.
	Span func(sessionTimeout time.Duration) (least, most time.Duration)
	// Make looks at the scene and makes the fault. [ErrNobody] means that the scene has
	// no client or server for it at this moment.
	Make func(Scene) (Fault, error)

	Params []Param // details that a schedule may decide; otherwise they are drawn
	// Together returns an error if the values of Params, each valid by itself, are invalid
	// together. Nil: all combinations are valid.
	Together func(params map[string]string) error
	Links    bool // a schedule may choose the client's links that are hit
	Server   bool // a schedule may choose the server that is hit
	// Early is the order in which kinds are dealt first, so that every drawn schedule has them,
	// however short; with a Weight above 1 a kind comes again soon. 0: it is drawn at random.
	Early int
}

// OfServers reports whether the kind is a kind of servers: its faults hit every client.
func (k Kind) OfServers() bool { return k.Needs != NeedsNothing && k.Needs != NeedsWorkers }

// OfClocks reports whether the kind is a kind of servers' clocks: at most one such fault is in
// force at a time, beside one fault of servers of any other sort.
func (k Kind) OfClocks() bool { return k.Needs == NeedsClocks || k.Needs == NeedsWallClocks }

// Allows returns an error if the kind cannot make a fault of a pick.
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

// Need is a capability that a kind of fault needs of an ensemble.
type Need string

// The needs.
const (
	NeedsNothing    Need = ""                                                                                 // clients have links of their own with every ensemble
	NeedsPeers      Need = "links between the servers"                                                        // see ensemble.PeerLinks
	NeedsProcesses  Need = "the servers' processes"                                                           // see ensemble.Processes
	NeedsUpgrade    Need = "another version of ZooKeeper that the servers can run (--upgrade-to)"             // see ensemble.Upgradable
	NeedsReconfig   Need = "servers whose membership can be changed (--reconfig)"                             // see ensemble.Reconfigurable
	NeedsPlugs      Need = "servers on a network that they can be taken off"                                  // see ensemble.Pluggable
	NeedsClocks     Need = "the servers' clocks (zkverify sim, or --ensemble local, with Byteman)"            // see ensemble.Clocks
	NeedsWallClocks Need = "the servers' wall clocks (zkverify sim)"                                          // see ensemble.WallClocks
	NeedsFailpoints Need = "failpoints in the servers' code (--ensemble local, with Byteman)"                 // see ensemble.Failpoints
	NeedsWorkers    Need = "clients in processes of their own (--workers, or zkverify sim with zkverify-sim)" // with any ensemble; see Workers
)

// MetBy reports whether an ensemble has the capability.
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
	case NeedsWallClocks:
		c, ok := e.(ensemble.WallClocks)
		return ok && c.HasWallClocks()
	case NeedsFailpoints:
		f, ok := e.(ensemble.Failpoints)
		return ok && f.HasFailpoints()
	}
	return true
}

// reconfigurable reports whether members of an ensemble can be removed and added. The servers of
// such an ensemble have no links between them.
func reconfigurable(e ensemble.Ensemble) bool {
	r, ok := e.(ensemble.Reconfigurable)
	return ok && r.CanReconfigure()
}

// NotOn returns the error for an ensemble that does not meet the kind's need.
func (k Kind) NotOn(e ensemble.Ensemble) error {
	return fmt.Errorf("fault %q needs %s, out of reach with this ensemble (%s)", k.Name, k.Needs, e.Kind())
}

// Timeouts makes a Span in multiples of the session timeout.
func Timeouts(least, most float64) func(time.Duration) (time.Duration, time.Duration) {
	return func(t time.Duration) (time.Duration, time.Duration) {
		return time.Duration(least * float64(t)), time.Duration(most * float64(t))
	}
}

// Instant is the Span of a fault that is over as soon as it has begun.
func Instant(time.Duration) (time.Duration, time.Duration) { return 0, 0 }
