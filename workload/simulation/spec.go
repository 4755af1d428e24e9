package simulation

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/live"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/cycle"
	"github.com/zkverify/zkverify/workload/targets"
)

// Spec decides a run, together with the program that carries it out.
type Spec struct {
	Seed      int64    `json:"seed"`
	Plan      string   `json:"plan"`   // one of Plans
	Target    string   `json:"target"` // see targets.Named
	Recipes   []string `json:"recipes,omitempty"`
	ZooKeeper string   `json:"zookeeper,omitempty"` // one of simulated.Versions; empty: the first

	Duration       time.Duration `json:"duration"` // of the faults, in virtual time
	SessionTimeout time.Duration `json:"sessionTimeout,omitempty"`
	Clients        int           `json:"clients,omitempty"` // 0: the plan's number
	Locks          int           `json:"locks,omitempty"`   // 0: the plan's number
	Mix            cycle.Mix     `json:"mix"`               // zero fields: the plan's values
	Faults         []string      `json:"faults,omitempty"`
	// Processes lets faults pause and kill the processes of clients: only on a seeded runtime.
	Processes bool `json:"processes,omitempty"`
	// Schedule is carried out; nil: the plan's schedule.
	Schedule *nemesis.Schedule `json:"schedule,omitempty"`
}

// Look asks for more than the outcome of a run. It must not change the run: on a seeded runtime
// the addresses of allocations influence it too.
type Look struct {
	// Until ends the run at that time after it began, 0 for never.
	Until time.Duration
	// Trace writes every message between clients and servers to TraceFile, in the folder of the
	// run, which is kept.
	Trace bool
	// Validate writes a record for spec/mutex.pml into the folder of the run.
	Validate bool
	// Branch, on a seeded runtime, has the run go on otherwise from one of its messages on. Only its
	// outcome is kept then.
	Branch Branch
}

// Name returns the name of the run's folder, such as seed-4711-random.
func (s Spec) Name() string { return fmt.Sprintf("seed-%d-%s", s.Seed, s.Plan) }

// Plan is a way to choose the faults and clients of a run.
type Plan struct {
	Name, What string
	decide     func(*world)
	own        string // the fault that it is made of; "" if the Spec names its faults
}

// world holds the values that a plan decides.
type world struct {
	*workload.Config
	seed    uint64
	tick    time.Duration // of the servers; 0 for that of ensemble.LocalConfig
	latency time.Duration // of messages between clients and servers
	far     time.Duration // the latency of one client of four; 0: it is like the others'
	spread  float64       // messages take up to 1+spread times the latency
	orders  *live.Orders  // the order of messages around releases; nil: as they arrive
	// reconnected is the session timeout that one server grants a client that connects again; 0: the
	// timeout of the session.
	reconnected time.Duration
}

// Plans returns the plans, the default first.
func Plans() []Plan {
	return []Plan{
		{"random", "faults are drawn as in runs on real servers", func(*world) {}, ""},
		{"swarm", "each seed draws which faults there are at all, how many clients and locks, whether all share one session, how long they hold, how long the servers' tick is, and how slow the network is", swarm, ""},
		{"island", "the follower of a client that holds a lock, or waits, is cut off again and again", island, islandFault},
		{Edges, "at one message of a step of a client, or at two, its link is cut, its process paused, its call cancelled, its session expired, its node deleted, or it crashes: the seed goes through all placements", edges, edgesFault},
		{SpecPaths, "paths of the models spec/mutex.pml and spec/create.pml, the counter-examples of all their switches among them: each fault at the step of the contender at which the model has it, with as many others ahead and behind; the seed goes through all paths", specPaths, edgesFault},
		{"orders", "which message goes next, of those on different links, is chosen around a release and the grant after it: the seed decides, and goes through all choices in turn", orders, ""},
		{"lease", "the leader stands still around the answers from which a holder knows that its session lives, one direction is lost and the holder is cut off behind an answer: which, for how long and after how many goes by the seed, in turn", lease, leaseFault},
		{explores, "as random, with the few faults and recipes whose combinations did not occur in the sweep, or occurred least often", func(*world) {}, ""},
	}
}

// PlanNamed returns the plan of a name, the first one for "".
func PlanNamed(name string) (Plan, error) {
	var known []string
	for _, p := range Plans() {
		if p.Name == name || name == "" {
			return p, nil
		}
		known = append(known, p.Name)
	}
	known = append(known, "all") // the caller carries out all plans in turn
	return Plan{}, words.Unknown("plan", name, known, words.Known(known))
}

// pace is the mix of clients in a run in virtual time: about a thousand acquires a minute for
// ten clients. More acquires of a healthy lock show nothing more, and cost more than all the
// rest.
var pace = cycle.Mix{Hold: 50 * time.Millisecond, Rest: 400 * time.Millisecond, Patience: 300 * time.Millisecond, Long: 0.01, Crash: 0.005, Options: 0.2, Apart: 0.5}

// world returns the values that the spec and its plan give a run.
func (s Spec) world() (*world, error) {
	target, err := targets.Named(s.Target)
	if err != nil {
		return nil, err
	}
	recipes, err := workload.SelectRecipes(target, s.Recipes)
	if err != nil {
		return nil, err
	}
	if _, err := faults.List().Select(s.Faults, nil, s.Processes); err != nil {
		return nil, err
	}
	plan, err := PlanNamed(s.Plan)
	if err != nil {
		return nil, err
	}
	w := &world{
		seed: uint64(s.Seed), latency: 500 * time.Microsecond, spread: 1,
		Config: &workload.Config{
			Target: target, Recipes: recipes, Seed: s.Seed, Clients: s.Clients, Locks: s.Locks, Duration: s.Duration,
			SessionTimeout: s.SessionTimeout, Faults: s.Faults, Processes: s.Processes, Schedule: s.Schedule, Mix: pace,
		},
	}
	if w.SessionTimeout == 0 {
		w.SessionTimeout = 2 * time.Second
	}
	plan.decide(w)
	if plan.own != leaseFault && plan.Name != SpecPaths {
		w.shorten()
	}
	w.RoundTrip = time.Duration(float64(2*max(w.latency, w.far)) * (1 + w.spread/2))
	if s.Mix != (cycle.Mix{}) {
		w.Mix = s.Mix
	}
	return w, nil
}

// Check returns an error if the spec cannot be carried out.
func (s Spec) Check() error {
	w, err := s.world()
	if err != nil || s.Schedule == nil {
		return err
	}
	clients := w.Clients
	if clients == 0 {
		clients = workload.DefaultClients(w.Recipes)
	}
	return s.Schedule.Fits(Kinds(), nil, clients, s.Duration)
}

// Kinds returns the faults that a schedule may name.
func Kinds() fault.Kinds { return append(faults.List(), atMessage()) }

// possible reports whether simulated servers meet the needs of a fault.
func possible(k fault.Kind) bool {
	switch k.Needs {
	case fault.NeedsPlugs, fault.NeedsFailpoints, fault.NeedsUpgrade, fault.NeedsReconfig:
		return false
	}
	return true
}

// Command returns the command line, without the name of the program, that carries the run out
// again. It does not name a schedule that was given as a file.
func (s Spec) Command() string {
	var b strings.Builder
	fmt.Fprintf(&b, "sim --from=%d --seeds 1 --plan %s", s.Seed, s.Plan)
	add := func(flag, value string) {
		if value != "" {
			fmt.Fprintf(&b, " --%s %s", flag, value)
		}
	}
	if s.Target != "recipes" {
		add("target", s.Target)
	}
	if len(s.Recipes) > 0 {
		add("recipe", strings.Join(s.Recipes, ","))
	}
	add("zookeeper", s.ZooKeeper)
	add("duration", s.Duration.String())
	if s.SessionTimeout > 0 {
		add("session-timeout", s.SessionTimeout.String())
	}
	if s.Clients > 0 {
		add("clients", strconv.Itoa(s.Clients))
	}
	if s.Locks > 0 {
		add("locks", strconv.Itoa(s.Locks))
	}
	if !s.allFaults() {
		add("faults", strings.Join(s.Faults, ","))
	}
	return b.String()
}
