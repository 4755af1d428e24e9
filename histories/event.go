package histories

import (
	"cmp"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Type is the type of an [Event].
type Type string

// The types of an event. The first four are the operations of a process, in
// Jepsen's words; the others are things that happened to it or around it.
const (
	Invoke Type = "invoke" // the process asked for Op; on disk before the request is sent
	OK     Type = "ok"     // Op succeeded
	Fail   Type = "fail"   // Op certainly had no effect that a process may act on
	Info   Type = "info"   // it is unknown whether Op took effect; the process is retired

	Enqueued  Type = "enqueued"  // an open acquire has its place in the queue: Token orders the places, or Sequence if Token is zero; Position counts the contenders known to be ahead
	Suspended Type = "suspended" // the holder's link is down, its lease not yet lost
	Resumed   Type = "resumed"   // the link is back, the lease was kept
	Lost      Type = "lost"      // the holder was told that exclusivity is no longer guaranteed
	Expired   Type = "expired"   // the ensemble ended Session, as seen by an observer with links of its own
	Crash     Type = "crash"     // the process died without releasing; its number is not used again

	Closing Type = "closing" // the process gives back all that it holds by closing its client; it may open another
	Closed  Type = "closed"  // the client is closed: the target reports that the session has ended

	RevokeRequested Type = "revoke-requested" // the holder was told that another process asks it to release; Token is its lease's

	Says Type = "says" // the lock reports its own state, asked or unasked, in Saying; Depth is that of the lease asked, as its holder counts

	FaultStart Type = "fault-start" // Fault began
	FaultStop  Type = "fault-stop"  // Fault was healed

	Stalled    Type = "stalled" // the process that records the run stood still from Since until now: see [Recorder]
	ServerSeen Type = "server"  // Server was found in another state or version than before; or in the same, when no other event was recorded for a while

	PhaseStart Type = "phase"  // Phase began
	CensusDone Type = "census" // Census lists what was left when every client had released
)

// Op is the name of an operation.
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

	SetSize Op = "set-size" // makes Size the size of a shared semaphore; Token on completion, if there is one, is the transaction that did it
	Revoke  Op = "revoke"   // asks the holder whose lease has Token to release
	Observe Op = "observe"  // waits until the leader changes; Token on completion is that of the new leader's term, zero if there is no leader
)

// NoOwner is the Owner of an observe that has seen a leader, and no announcement of it where it must
// have made one.
const NoOwner = "(none)"

// The operations on barriers. The members of one round of a double barrier
// name it by the same Generation; rounds of one barrier do not overlap. Members that
// do not know their round name none, at a barrier where no member does. An enter or
// leave that failed was still an arrival or a departure: other members may have counted it. The Token of an enter that is ok, if it has one, is the
// transaction that began its round. The Token of an enter that failed is a
// transaction by which the member's node was gone: later members do not count it.
const (
	Set    Op = "set"    // puts the barrier up
	Remove Op = "remove" // takes the barrier away
	Wait   Op = "wait"   // returns when the barrier is not there
	Enter  Op = "enter"  // returns when all members have come
	Leave  Op = "leave"  // returns when all members leave
)

// Mode is the mode in which a read/write lock is acquired.
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
	// StoreGuarded is a node in ZooKeeper. The transaction that writes it goes through
	// only while the lock is held. Readers and holders of permits write to a node of their own,
	// which counts nothing.
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

// Compare returns -1 if t was issued before u, 1 if t was issued after u, and 0 if
// they are equal.
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
	Owner   string        `json:"owner,omitempty"`   // the holder's name: re-entry is by owner; for observe, on completion: the owner that the leader announces, see NoOwner
	Session string        `json:"session,omitempty"` // ZooKeeper session id, 0x and 16 hex digits

	Token    Token  `json:"token,omitzero"`
	Position int    `json:"position,omitempty"` // for enqueued: contenders ahead
	Sequence int    `json:"sequence,omitempty"` // for enqueued: the number of the contender's node
	Depth    int    `json:"depth,omitempty"`    // 1 is the outermost hold
	Store    string `json:"store,omitempty"`    // for read, write
	Value    int64  `json:"value,omitempty"`    // for read, write
	Size     int    `json:"size,omitempty"`     // for set-size
	Error    string `json:"error,omitempty"`
	// Refused is for a try-acquire that failed: the lock reports that another client is in the way.
	// It is also for an outermost release that failed: the lock reports, before the deadline of the
	// lease, that the lease was lost. And for a read or write that failed: the fence reports that it
	// has admitted a newer token.
	Refused bool `json:"refused,omitempty"`

	Generation int `json:"generation,omitempty"` // for enter, leave: which round, from 1

	// Late is for ok, fail, info: how long before the answer, in ns, the context of the call, or the
	// lease that a release gives back, had ended; 0 if it had not.
	Late time.Duration `json:"late,omitempty"`
	// Unexplained is for an operation that failed, or whose outcome is unknown: its context had not
	// ended, and the error reports no refusal, no loss and no crash.
	Unexplained bool `json:"unexplained,omitempty"`

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
// Besides the fault's own details, Params of a fault-start gives the planned duration
// ("for"), the aim ("aim", "draw"), the time taken to find a process at which to aim
// ("looked"), and the delay with which the fault then began ("late"). Params of a
// fault-stop gives the delay of the stop ("late") and the time that healing took
// ("healing").
type Fault struct {
	ID        int               `json:"id"`
	Name      string            `json:"name"`
	Targets   []string          `json:"targets,omitempty"`   // what was hit: "client 3", "server 1", "server 1 -> server 2"
	Processes []int             `json:"processes,omitempty"` // the processes whose links or session were hit; empty: every one
	Params    map[string]string `json:"params,omitempty"`    // e.g. "latency": "80ms"
}

// The parameters of a fault that strikes when a server reaches a point of its code.
const (
	Point  = "point"  // the name of the point
	Action = "action" // the action at the point
	// Reached is a parameter of the fault-stop: how often the server reached the point. A
	// fault whose point was not reached has met no process.
	Reached = "reached"
)

// Failpoint returns the action and the point of a fault at a point of a server's code, as
// in "halt at diff-sync". It returns "" for any other fault.
func (f *Fault) Failpoint() string {
	if f.Params[Point] == "" {
		return ""
	}
	return f.Params[Action] + " at " + f.Params[Point]
}

// Title returns the name of the fault. For a fault at a point of a server's code it adds
// the action and the point: "failpoint (halt at diff-sync)".
func (f *Fault) Title() string {
	if at := f.Failpoint(); at != "" {
		return f.Name + " (" + at + ")"
	}
	return f.Name
}

// serverName is the name of a server among the targets of a fault.
var serverName = regexp.MustCompile(`\bserver (\d{1,3})\b`)

// Servers returns the servers that the fault names as its targets.
func (f *Fault) Servers() (ids []int) {
	for _, target := range f.Targets {
		for _, found := range serverName.FindAllStringSubmatch(target, -1) {
			if id, err := strconv.Atoi(found[1]); err == nil && id > 0 && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	return ids
}

// Server is the state that one server reported when it was asked over a link of the
// run's own, which no fault hits. Servers are asked now and then: the state may have
// changed a little before the time of the event.
type Server struct {
	ID    int         `json:"id"` // from 1
	State ServerState `json:"state"`
	// Version is the server's version of ZooKeeper. It is set when the server reports its
	// version for the first time, and when the version has changed: a fault may upgrade
	// servers.
	Version string `json:"zookeeper,omitempty"`
}

// ServerState is the state of a server as its clients see it.
type ServerState string

// The states of a server.
const (
	Leading   ServerState = "leader"
	Following ServerState = "follower"
	Observing ServerState = "observer"   // it serves, and has no vote
	Alone     ServerState = "standalone" // it serves without other servers
	Electing  ServerState = "electing"   // it answers, but serves no client
	Silent    ServerState = "silent"     // it accepts connections, but does not answer
	Down      ServerState = "down"       // it accepts no connection
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
	// Uncounted says what could not be counted, "contender node" or "watch", and why.
	Uncounted  map[string]string `json:"uncounted,omitempty"`
	Goroutines []string          `json:"goroutines,omitempty"` // stacks of goroutines that the target left running

	// Connects counts the attempts of each client to connect, from when it was opened
	// to its end. It is nil when they were not counted.
	Connects []Connects `json:"connects,omitempty"`

	// Kept is the growth in the number of goroutines of the target's idle clients from
	// when they were opened to the census, when all had released and none was closed yet.
	// Clients is the number of these clients, 0 when the goroutines were not counted.
	Kept    int `json:"kept,omitempty"`
	Clients int `json:"clients,omitempty"`

	// Disagreements describes how the servers' trees differ after all changes have
	// stopped. Unless it is empty, ZooKeeper itself has lost or kept a change, and no
	// lock can be judged by its behavior on these servers.
	Disagreements []string `json:"disagreements,omitempty"`

	// Diverged names the servers that found during the run that their tree was not the
	// leader's (each server compares every tree that it loads), and a server whose log
	// contradicts those of the others. They may have got the right tree since. Such a
	// server may have given clients wrong answers, so no violation that begins after
	// that counts against the target; a guarantee that holds still holds.
	Diverged []Divergence `json:"diverged,omitempty"`

	// Late is the longest time, in ns, that a line of a worker process was under way
	// before its event was recorded, except for lines that a pause has held up.
	// It is 0 without worker processes. If it is above [Slack], the target is not to blame
	// for telling a process late.
	Late time.Duration `json:"late,omitempty"`

	// Write is the median time, in ns, of the run's own writes in the recovery. It shows
	// how busy the machine was. See [Slowed].
	Write time.Duration `json:"write,omitempty"`

	// Silences are the times of more than [Slack] in which a worker process did not
	// answer, though it was asked every quarter of [Slack] whether it runs. Pauses by the
	// run are not among them: something else has stopped the process.
	Silences []Silence `json:"silences,omitempty"`
}

// Silence is a time in which a worker process did not run, or the machine was too busy to
// pass on its answers.
type Silence struct {
	Worker int           `json:"worker"` // from 1
	From   time.Duration `json:"from"`   // on the run's clock: when it was last known to run
	To     time.Duration `json:"to"`     // when it was known to run again
}

// Divergence is a server's tree that was not the leader's.
type Divergence struct {
	Server int   `json:"server"` // its ID
	Zxid   int64 `json:"zxid"`   // the transaction at which the difference was found
	// Since is a time, in ns since the run's origin, at which that transaction had not
	// been carried out yet: as far as is known, the server's tree was right until then.
	Since time.Duration `json:"since"`
}

// String describes the divergence in one line.
func (d Divergence) String() string {
	return fmt.Sprintf("server %d differed from the others at transaction %#x, after %.3f s", d.Server, d.Zxid, d.Since.Seconds())
}

// Connects counts the attempts of one client to connect to a server, whether they
// succeeded or not.
type Connects struct {
	Client   int           `json:"client"`   // its index
	Attempts int           `json:"attempts"` // all of them
	Most     int           `json:"most"`     // the most in any [ConnectWindow]
	Ago      time.Duration `json:"ago"`      // when that window began, ns before the census

	// Repeats is the most requests in any [ConnectWindow] that asked once more what the client had
	// been told: ten requests of each client that shares it had had the same content and the same
	// answer, and the application had called nothing and was told nothing since. RepeatsAgo is for
	// that window what Ago is for the other.
	Repeats    int           `json:"repeats,omitempty"`
	RepeatsAgo time.Duration `json:"repeats_ago,omitempty"`
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
