package fault

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/zkverify/zkverify/histories/states"
)

// Aim is the state of the clients that a fault prefers. If no client is in that state, the
// fault takes any client.
type Aim string

// The aims.
const (
	AtHolder Aim = "holder" // a client that holds a lock
	AtWaiter Aim = "waiter" // a client that waits for a lock
	AtAnyone Aim = "anyone" // any client that has a session
	// AtEnqueuing is a client that waits and has no place in the queue yet:
	// the request that creates its node is under way.
	AtEnqueuing Aim = "enqueuing"
	// AtReleasing is a client whose release is under way.
	AtReleasing Aim = "releasing"
)

// Aims returns all aims.
func Aims() []Aim { return []Aim{AtHolder, AtWaiter, AtAnyone, AtEnqueuing, AtReleasing} }

// Pick chooses the client or server that a step hits, among those that qualify when
// its time comes, and the fault's own details. The rest is drawn.
type Pick struct {
	// Aim is the state in which the client must be. Default: any state, or the state of
	// Client.
	Aim  Aim    `json:"aim,omitempty"`
	Draw uint32 `json:"draw"`
	// Client is the index of the client to hit, for faults of clients. With an
	// Aim, this client is hit if it is in that state, or else another client in that
	// state.
	Client *int `json:"client,omitempty"`
	// Server is the server to hit, for faults of servers that may hit any server.
	Server Server `json:"server,omitempty"`
	// Links chooses the links of a client that are hit, for faults that may hit one
	// or all.
	Links Links `json:"links,omitempty"`
	// Params are details of the kind of fault, such as "latency": "80ms".
	Params map[string]string `json:"params,omitempty"`
}

// Links is a choice among a client's links.
type Links string

// The choices of links.
const (
	OneLink  Links = "one" // the link in use: the client moves to another server and keeps its session
	AllLinks Links = "all" // the client cannot move to another server
)

// AllServers is the recorded value of "links" of a fault that hits all links of a client.
const AllServers = "all servers"

// State returns the state of the aim; Idle for AtAnyone.
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

// At reports whether a client is in the state of the aim. A client without a place in the
// queue counts as a waiter too: some locks never report places.
func (a Aim) At(c Client) bool {
	state := a.State()
	return state == states.Idle || slices.Contains(c.States, state) || a == AtWaiter && slices.Contains(c.States, states.Enqueuing)
}

// Server is a choice of a server: a role, the number of a server, or "" for any server.
type Server string

// The roles. The server with a role is determined when the fault strikes.
const (
	TheLeader  Server = "leader"
	AFollower  Server = "follower"
	AnObserver Server = "observer" // it has no vote
)

// Check returns an error unless the choice is valid for an ensemble of at most nine servers.
func (c Server) Check() error {
	n, err := strconv.Atoi(string(c))
	if c == "" || c == TheLeader || c == AFollower || c == AnObserver || err == nil && n >= 1 && n <= 9 {
		return nil
	}
	return fmt.Errorf("server is %q: want leader, follower, observer, or a number from 1", string(c))
}
