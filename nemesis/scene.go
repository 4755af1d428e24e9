package nemesis

import (
	"cmp"
	"errors"
	"maps"
	"math/rand/v2"
	"slices"
)

// ErrNobody is returned by a Kind's Make when the scene has nobody to hit at
// this moment. It may have somebody a moment later.
var ErrNobody = errors.New("nobody to hit")

// Aim says whom a fault prefers. When nobody fits, it takes whom it can get.
type Aim string

// The aims.
const (
	AtHolder Aim = "holder" // a client that holds a lock
	AtWaiter Aim = "waiter" // a client that waits for one
	AtAnyone Aim = "anyone" // any client that has a session
	// AtEnqueuing is at a client that waits and has no place in the queue yet:
	// the request that makes its node is under way.
	AtEnqueuing Aim = "enqueuing"
)

// Pick decides whom a step hits, among those who qualify when its time comes,
// and the fault's own details.
type Pick struct {
	Aim  Aim    `json:"aim"`
	Draw uint32 `json:"draw"`
	// Links says which links of a client are hit, for faults that may hit one
	// or all. Default: drawn.
	Links Links `json:"links,omitempty"`
}

// Links says which of a client's links a fault hits.
type Links string

// The choices of links.
const (
	OneLink  Links = "one" // the one in use: the client moves to another server and keeps its session
	AllLinks Links = "all" // the client has nowhere to go
)

// Scene is what a Kind's Make sees: the world less what other faults have hold
// of.
type Scene struct {
	World
	// Free are the clients that have a session and that no other fault hits,
	// by ascending index.
	Free []Client
	// Everyone are all clients, by ascending index.
	Everyone []Client
	// PeersBusy says that another fault cuts links between servers.
	PeersBusy bool
	// Leader is the server that leads, for kinds that need peer links.
	Leader int
	// Rand decides the details. It is seeded by the step's draw, so that a
	// step means the same whenever it is carried out.
	Rand *rand.Rand

	aim   Aim
	links Links
	exact bool // take nobody rather than somebody that the aim is not at
}

func newScene(w World, p Pick, busy map[int]bool, exact bool) Scene {
	s := Scene{
		World: w, Everyone: w.Clients(),
		Rand: rand.New(rand.NewPCG(uint64(p.Draw), 0)),
		aim:  p.Aim, links: p.Links, exact: exact,
	}
	for _, c := range s.Everyone {
		if c.Linked != 0 && !busy[c.Index] {
			s.Free = append(s.Free, c)
		}
	}
	return s
}

// Victim picks the client to hit.
func (s Scene) Victim() (Client, error) {
	fits := slices.DeleteFunc(slices.Clone(s.Free), func(c Client) bool {
		switch s.aim {
		case AtHolder:
			return !c.Holds
		case AtWaiter:
			return !c.Waits
		case AtEnqueuing:
			return !c.Enqueues
		default:
			return false
		}
	})
	if len(fits) == 0 && !s.exact {
		fits = s.Free
	}
	if len(fits) == 0 {
		return Client{}, ErrNobody
	}
	return fits[s.Rand.IntN(len(fits))], nil
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
