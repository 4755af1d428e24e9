package fault

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// ErrNobody is returned by a Kind's Make when the scene has no client or server to hit
// at this moment. It may have one a moment later.
var ErrNobody = errors.New("nobody to hit")

// Scene is the view of a Kind's Make: the world without the clients and servers that
// other faults hit.
type Scene struct {
	World
	// Free are the clients that have a session and that no other fault hits,
	// by ascending index.
	Free []Client
	// Everyone are all clients, by ascending index.
	Everyone []Client
	// ServersBusy is true if another fault of servers is in force.
	ServersBusy bool
	// ClocksBusy is true if another fault of servers' clocks is in force.
	ClocksBusy bool
	// Leader is the ID of the leader, for kinds of servers.
	Leader int
	// Rand decides the details. It is seeded by the step's draw, so that a
	// step has the same details whenever it is carried out.
	Rand *rand.Rand

	Kind  string // the name of the kind of fault that is made
	Pick  Pick   // the schedule's choice
	Exact bool   // return ErrNobody unless a client is in the state of the aim
}

// NewScene returns the scene of a kind of fault for a pick. Busy has the indexes of the
// clients that another fault hits.
func NewScene(w World, kind string, p Pick, busy map[int]bool, exact bool) Scene {
	s := Scene{
		World: w, Everyone: w.Clients(),
		Rand: rand.New(rand.NewPCG(uint64(p.Draw), 0)),
		Kind: kind, Pick: p, Exact: exact,
	}
	s.Free = make([]Client, 0, len(s.Everyone))
	for _, c := range s.Everyone {
		if c.Linked != 0 && !busy[c.Index] {
			s.Free = append(s.Free, c)
		}
	}
	return s
}

// Victim picks the client to hit.
func (s Scene) Victim() (Client, error) {
	if s.Pick.Client != nil {
		for _, c := range s.Free {
			if c.Index == *s.Pick.Client && (s.Pick.Aim.At(c) || !s.Exact) {
				return c, nil
			}
		}
		if s.Pick.Aim == "" {
			return Client{}, fmt.Errorf("%w: client %d has no session, or another fault hits it", ErrNobody, *s.Pick.Client)
		}
	}
	var fits []Client
	for _, c := range s.Free {
		if s.Pick.Aim.At(c) {
			fits = append(fits, c)
		}
	}
	if len(fits) == 0 && !s.Exact {
		fits = s.Free
	}
	if w, ok := s.World.(Chooser); ok && len(fits) > 0 {
		fits = w.Rarest(s.Kind, s.Pick.Aim, fits, s.Exact)
	}
	if len(fits) == 0 {
		return Client{}, ErrNobody
	}
	return fits[s.Rand.IntN(len(fits))], nil
}
