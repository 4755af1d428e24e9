package histories

import (
	"cmp"
	"fmt"
	"strings"
	"time"
)

// Type says what an [Event] records.
type Type string

// The types of an event. The first four are the operations of a process, in
// Jepsen's words; the others are things that happened to it or around it.
const (
	Invoke Type = "invoke" // the process asked for Op; on disk before the request is sent
	OK     Type = "ok"     // Op succeeded
	Fail   Type = "fail"   // Op certainly had no effect that anybody may act on
	Info   Type = "info"   // nobody knows whether Op took effect; the process is retired

	Enqueued  Type = "enqueued"  // an open acquire has its place in the queue: Token orders the places, or Sequence where it is zero; Position counts those known to be ahead
	Suspended Type = "suspended" // the holder's link is down, its lease not yet lost
	Resumed   Type = "resumed"   // the link is back, the lease was kept
	Lost      Type = "lost"      // the holder was told that exclusivity is no longer guaranteed
	Expired   Type = "expired"   // the ensemble ended Session, as seen by an observer with links of its own
	Crash     Type = "crash"     // the process died without releasing; its number is not used again

	Closing Type = "closing" // the process gives back all that it holds by closing its client; it may open another
	Closed  Type = "closed"  // that has been done: the target says that the session has ended

	RevokeRequested Type = "revoke-requested" // the holder was told that somebody asks it to release; Token is its lease's

	Says Type = "says" // what the lock says of itself, asked or not: Saying; Depth is that of the lease asked, as its holder counts

	FaultStart Type = "fault-start" // Fault began
	FaultStop  Type = "fault-stop"  // Fault was healed

	Stalled    Type = "stalled" // the process that records the run stood still from Since until now: see [Recorder]
	ServerSeen Type = "server"  // Server was found to be something else than before; or the same, when nothing else was on record for a while

	PhaseStart Type = "phase"  // Phase began
	CensusDone Type = "census" // Census: what was left when every client had released
)

// Op names what a process asked for.
type Op string

// The operations that processes perform on locks. Acquire and TryAcquire with a
// Depth above 1 on completion are re-entries. Release carries the depth that was
// given up: 1 is the outermost.
const (
	Acquire    Op = "acquire"
	TryAcquire Op = "try-acquire"
	Release    Op = "release"
	Read       Op = "read"  // reads the guarded counter in Store; Value on completion
	Write      Op = "write" // writes Value to the guarded counter in Store; fail when the fence refused it

	SetSize Op = "set-size" // makes Size the size of a shared semaphore; Token on completion, if it has one, is the transaction that did
	Revoke  Op = "revoke"   // asks the holder whose lease has Token to release
	Observe Op = "observe"  // waits until another one leads; Token on completion is that of its term, zero if nobody leads
)

// The operations on barriers. The members of one round of a double barrier
// name it by the same Generation; rounds of one barrier do not overlap. An
// enter or leave that failed was still an arrival or a departure: others may
// have counted it. The Token of an enter that is ok, if it has one, is the
// transaction that began its round; of one that failed, a transaction by which
// nothing was left of the member, so that it is counted by no later one.
const (
	Set    Op = "set"    // puts the barrier up
	Remove Op = "remove" // takes it away
	Wait   Op = "wait"   // returns when it is not there
	Enter  Op = "enter"  // returns when all members have come
	Leave  Op = "leave"  // returns when all members leave
)

// Mode says how a read/write lock is asked for.
type Mode string

// The modes.
const (
	ModeRead  Mode = "read"
	ModeWrite Mode = "write"
)

// The phases of a run, in order.
const (
	PhaseChaos    = "chaos"    // the workload runs, faults come and go
	PhaseRecovery = "recovery" // every fault is healed; every client must get every lock
	PhaseEnd      = "end"      // all clients have released; only the census follows
)

// The guarded counters that every lock protects.
const (
	StoreFenced = "fenced" // refuses a write whose token is older than the newest it has seen
	// StoreGuarded is a node in ZooKeeper that is written in a transaction which goes
	// through only while the lock is held.
	StoreGuarded = "guarded"
	StorePlain   = "plain" // accepts every write: only mutual exclusion protects it
)

// Token is a fencing token: the czxid of the lock node, and a second
// component for leases that share a transaction or a local hand-off.
// The zero Token means that the target issues none.
type Token struct {
	Zxid int64 `json:"zxid"`
	Sub  int32 `json:"sub,omitempty"`
}

// Compare returns -1 if t was issued before u, 1 if it was issued after it, and 0 if
// they are one.
func (t Token) Compare(u Token) int {
	return cmp.Or(cmp.Compare(t.Zxid, u.Zxid), cmp.Compare(t.Sub, u.Sub))
}

// Less reports whether t was issued before u.
func (t Token) Less(u Token) bool { return t.Zxid < u.Zxid || t.Zxid == u.Zxid && t.Sub < u.Sub }

// Event is one line of a history. Fields that do not apply are zero.
type Event struct {
	Time    time.Duration `json:"time"`              // ns since the run's monotonic origin; never decreases
	Type    Type          `json:"type"`              //
	Process int           `json:"process"`           // the single-threaded process; -1: none (nemesis, observer)
	Op      Op            `json:"op,omitempty"`      // for invoke, ok, fail, info
	Lock    string        `json:"lock,omitempty"`    // the lock's key
	Parts   []Part        `json:"parts,omitempty"`   // instead of Lock: the locks of an operation over several, and of its lease
	Mode    Mode          `json:"mode,omitempty"`    // for read/write locks
	Permits int           `json:"permits,omitempty"` // for semaphores
	Owner   string        `json:"owner,omitempty"`   // who holds: re-entry is by owner
	Session string        `json:"session,omitempty"` // ZooKeeper session id, 0x and 16 hex digits

	Token    Token  `json:"token,omitzero"`
	Position int    `json:"position,omitempty"` // for enqueued: contenders ahead
	Sequence int    `json:"sequence,omitempty"` // for enqueued: the number of the contender's node
	Depth    int    `json:"depth,omitempty"`    // 1 is the outermost hold
	Store    string `json:"store,omitempty"`    // for read, write
	Value    int64  `json:"value,omitempty"`    // for read, write
	Size     int    `json:"size,omitempty"`     // for set-size
	Error    string `json:"error,omitempty"`
	Refused  bool   `json:"refused,omitempty"` // for a try-acquire that failed: because somebody else is in the way, says the lock

	Generation int `json:"generation,omitempty"` // for enter, leave: which round, from 1

	Since time.Duration `json:"since,omitempty"` // for stalled: the last time at which the process certainly ran

	Saying *Saying `json:"saying,omitempty"`
	Fault  *Fault  `json:"fault,omitempty"`
	Server *Server `json:"server,omitempty"`
	Phase  string  `json:"phase,omitempty"`
	Census *Census `json:"census,omitempty"`
}

// Part is one lock of an operation over several, which gets all of them or
// none.
type Part struct {
	Lock  string `json:"lock"`
	Token Token  `json:"token,omitzero"` // of this lock, once it is held
}

// Fault names one fault of the nemesis. Start and stop carry the same ID.
//
// Besides its own details, Params has at the start how long the fault was to last
// ("for"), whom it was aimed at ("aim", "draw"), how long it took to find somebody
// ("looked") and how late it then began ("late"); at the stop how late it was
// ("late") and how long it took to heal ("healing").
type Fault struct {
	ID        int               `json:"id"`
	Name      string            `json:"name"`
	Targets   []string          `json:"targets,omitempty"`   // what was hit: "client 3", "server 1", "server 1 -> server 2"
	Processes []int             `json:"processes,omitempty"` // the processes whose links or session were hit; empty: every one
	Params    map[string]string `json:"params,omitempty"`    // e.g. "latency": "80ms"
}

// The parameters of a fault that strikes where a server comes to a point of its code.
const (
	Point  = "point"  // which
	Action = "action" // what happens there
	// Reached is a parameter of the fault's end: how often the server came there. A fault
	// that was not reached has met nothing.
	Reached = "reached"
)

// Failpoint says what happens where, of a fault at a point of a server's code: "halt at
// diff-sync". It is "" of any other.
func (f *Fault) Failpoint() string {
	if f.Params[Point] == "" {
		return ""
	}
	return f.Params[Action] + " at " + f.Params[Point]
}

// Title is the name of the fault, and of one at a point of a server's code what happens
// where: "failpoint (halt at diff-sync)".
func (f *Fault) Title() string {
	if at := f.Failpoint(); at != "" {
		return f.Name + " (" + at + ")"
	}
	return f.Name
}

// Server is what one server said it was when it was asked over a link of the
// run's own, which no fault hits. It is asked now and then: what it is may have
// changed a little earlier than the event says.
type Server struct {
	ID    int         `json:"id"` // from 1
	State ServerState `json:"state"`
	// Version of ZooKeeper is there when the server says one for the first time, and when it
	// says another than before: a fault may upgrade servers.
	Version string `json:"zookeeper,omitempty"`
}

// ServerState is what a server is to its clients.
type ServerState string

// The states of a server.
const (
	Leading   ServerState = "leader"
	Following ServerState = "follower"
	Observing ServerState = "observer"   // it serves, and has no vote
	Alone     ServerState = "standalone" // it serves without others
	Electing  ServerState = "electing"   // it answers, and serves nobody
	Silent    ServerState = "silent"     // it takes connections, and answers nothing
	Down      ServerState = "down"       // it takes no connection
)

func (s ServerState) known() bool {
	switch s {
	case Leading, Following, Observing, Alone, Electing, Silent, Down:
		return true
	}
	return false
}

// Census counts what was left when every client had released.
type Census struct {
	Contenders []string `json:"contenders,omitempty"` // paths of contender nodes
	Watches    int      `json:"watches"`              // server-side watches on lock paths
	Watched    []string `json:"watched,omitempty"`    // the path of each
	Goroutines []string `json:"goroutines,omitempty"` // stacks of goroutines that the target left running

	// Connects tells how often clients have tried to connect, each from when it
	// was opened to its end. Nil when nobody has counted.
	Connects []Connects `json:"connects,omitempty"`

	// Kept is how many goroutines the idle clients of the target had more than when
	// they were opened, when all had released and none was closed yet; Clients is how
	// many clients there were, 0 when nobody counted.
	Kept    int `json:"kept,omitempty"`
	Clients int `json:"clients,omitempty"`

	// Disagreements say what the servers tell differently when nothing changes
	// any more. Unless it is empty, ZooKeeper itself has lost or kept
	// something, and no lock can be judged by what it did on these servers.
	Disagreements []string `json:"disagreements,omitempty"`

	// Diverged name the servers that found meanwhile that their tree was not the
	// leader's, as they do of each tree that they load, and one whose log contradicts
	// those of the others. They may have got the right tree since. What such a server told clients may have been wrong, so that no
	// violation that begins after that can be held against the target; what holds, holds
	// all the same.
	Diverged []Divergence `json:"diverged,omitempty"`

	// Late is the longest, ns, that a line of a worker process was under way
	// before what it tells was recorded, but for those that a pause has held up.
	// 0 without worker processes. Above [Slack] nobody can be blamed for being
	// told late.
	Late time.Duration `json:"late,omitempty"`

	// Write is what half of the run's own writes in the recovery took at most, ns: how
	// busy the machine was. See [Slowed].
	Write time.Duration `json:"write,omitempty"`

	// Silences are the times of more than [Slack] in which a worker process said
	// nothing, though it was asked whether it runs each quarter of [Slack], but for
	// pauses of the run: something else has stopped it.
	Silences []Silence `json:"silences,omitempty"`
}

// Silence is a time in which a worker process did not run, or the machine was too busy to
// hear of it.
type Silence struct {
	Worker int           `json:"worker"` // from 1
	From   time.Duration `json:"from"`   // on the run's clock: when it was known to run last
	To     time.Duration `json:"to"`     // when it was known to run again
}

// Divergence is a server's tree that was not the leader's.
type Divergence struct {
	Server int   `json:"server"` // its ID
	Zxid   int64 `json:"zxid"`   // the transaction at which that was found
	// Since is a time by which that transaction had not been carried out yet, ns since
	// the run's origin: the server was right until then, as far as is known.
	Since time.Duration `json:"since"`
}

// String says what the server found.
func (d Divergence) String() string {
	return fmt.Sprintf("server %d differed from the others at transaction %#x, after %.3f s", d.Server, d.Zxid, d.Since.Seconds())
}

// Connects is how often one client has tried to connect to a server, whatever
// came of it.
type Connects struct {
	Client   int           `json:"client"`   // its index
	Attempts int           `json:"attempts"` // all of them
	Most     int           `json:"most"`     // the most in any [ConnectWindow]
	Ago      time.Duration `json:"ago"`      // when that window began, ns before the census
}

// keys returns the lock keys that the event is about, for messages too.
func (e *Event) keys() []string {
	if e.Lock != "" {
		return []string{e.Lock}
	}
	var keys []string
	for _, p := range e.Parts {
		keys = append(keys, p.Lock)
	}
	return keys
}

// lockName names the event's lock, or locks, for messages.
func (e *Event) lockName() string { return strings.Join(e.keys(), "+") }
