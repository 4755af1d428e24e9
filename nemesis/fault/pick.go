package fault

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/zkverify/zkverify/histories/states"
)

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

// AllServers is on record, as the value of "links", where all links of a client are
// hit.
const AllServers = "all servers"

// State returns the state that is aimed at; Idle of an aim at anyone.
func (a Aim) State() states.State {
	switch a {
	case AtHolder:
		return states.Holding
	case AtWaiter:
		return states.Waiting
	case AtEnqueuing:
		return states.Enqueuing
	case AtReleasing:
		return states.Releasing
	}
	return states.Idle
}

// At reports whether a client is in the state that is aimed at. A client without a place
// in the queue waits too: some locks never tell it.
func (a Aim) At(c Client) bool {
	state := a.State()
	return state == states.Idle || slices.Contains(c.States, state) || a == AtWaiter && slices.Contains(c.States, states.Enqueuing)
}

// Server is a choice of a server: a role, the number of one, or "" for any.
type Server string

// The roles. Who has one is asked when the fault strikes.
const (
	TheLeader  Server = "leader"
	AFollower  Server = "follower"
	AnObserver Server = "observer" // it has no vote
)

// Check says whether it is a choice of an ensemble of at most nine servers.
func (c Server) Check() error {
	n, err := strconv.Atoi(string(c))
	if c == "" || c == TheLeader || c == AFollower || c == AnObserver || err == nil && n >= 1 && n <= 9 {
		return nil
	}
	return fmt.Errorf("server is %q: want leader, follower, observer, or a number from 1", string(c))
}
