package nemesis

import (
	"cmp"
	"errors"
	"fmt"
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
	// AtReleasing is at a client whose release is under way.
	AtReleasing Aim = "releasing"
)

// Aims lists them.
func Aims() []Aim { return []Aim{AtHolder, AtWaiter, AtAnyone, AtEnqueuing, AtReleasing} }

// Pick decides whom a step hits, among those who qualify when its time comes,
// and the fault's own details. What it leaves open is drawn.
type Pick struct {
	// Aim says in which state a client is to be. Default: any, or that of
	// Client.
	Aim  Aim    `json:"aim,omitempty"`
	Draw uint32 `json:"draw"`
	// Client is the index of the client to hit, for faults of clients. With an
	// Aim it is hit if it is in that state, or else another that is.
	Client *int `json:"client,omitempty"`
	// Server is the server to hit, for faults of servers that may hit any.
	Server Server `json:"server,omitempty"`
	// Links says which links of a client are hit, for faults that may hit one
	// or all.
	Links Links `json:"links,omitempty"`
	// Params are details of the kind of fault, such as "latency": "80ms".
	Params map[string]string `json:"params,omitempty"`
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
	// ServersBusy says that another fault of servers is in force.
	ServersBusy bool
	// Leader is the server that leads, for kinds of servers.
	Leader int
	// Rand decides the details. It is seeded by the step's draw, so that a
	// step means the same whenever it is carried out.
	Rand *rand.Rand

	fault  string
	aim    Aim
	client *int
	server Server
	links  Links
	params map[string]string
	exact  bool // take nobody rather than somebody that the aim is not at
}

func newScene(w World, fault string, p Pick, busy map[int]bool, exact bool) Scene {
	s := Scene{
		World: w, Everyone: w.Clients(),
		Rand:  rand.New(rand.NewPCG(uint64(p.Draw), 0)),
		fault: fault, aim: p.Aim, client: p.Client, server: p.Server, links: p.Links, params: p.Params, exact: exact,
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
	if s.client != nil {
		for _, c := range s.Free {
			if c.Index == *s.client && (s.aim.at(c) || !s.exact) {
				return c, nil
			}
		}
		if s.aim == "" {
			return Client{}, fmt.Errorf("%w: client %d has no session, or another fault hits it", ErrNobody, *s.client)
		}
	}
	fits := slices.DeleteFunc(slices.Clone(s.Free), func(c Client) bool { return !s.aim.at(c) })
	if len(fits) == 0 && !s.exact {
		fits = s.Free
	}
	if w, ok := s.World.(Chooser); ok && len(fits) > 0 {
		fits = w.Rarest(s.fault, s.aim, fits, s.exact)
	}
	if len(fits) == 0 {
		return Client{}, ErrNobody
	}
	return fits[s.Rand.IntN(len(fits))], nil
}

// at reports whether a client is in the state that is aimed at.
func (a Aim) at(c Client) bool {
	switch a {
	case AtHolder:
		return c.Holds
	case AtWaiter:
		return c.Waits
	case AtEnqueuing:
		return c.Enqueues
	case AtReleasing:
		return c.Releases
	}
	return true
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }
