package simulation

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/nemesis/faults"
)

// draws returns the random source of a plan, which is not that of clients and faults.
func (w *world) draws() *rand.Rand { return rand.New(rand.NewPCG(w.seed, 0x706c616e)) }

// swarm draws a world of its own for each seed: the absence of a fault can matter as much as
// its presence (Groce and others, Swarm Testing, ISSTA 2012).
func swarm(w *world) {
	r := w.draws()
	drawn := len(w.Faults) == 0 || w.Faults[0] == "all"
	if drawn {
		w.Faults = nil
		for _, k := range faults.List() {
			if (k.Needs != fault.NeedsWorkers || w.Processes) && possible(k) && r.IntN(2) == 0 {
				w.Faults = append(w.Faults, k.Name)
			}
		}
		if len(w.Faults) == 0 {
			w.Faults = []string{"all"}
		}
	}
	if w.Clients == 0 && len(w.Recipes) == 1 {
		w.Clients = 2 + r.IntN(9)
	}
	if w.Locks == 0 {
		w.Locks = 1 + r.IntN(3)
	}
	w.Mix.Hold = time.Duration(1+r.IntN(200)) * time.Millisecond
	w.Mix.Rest = time.Duration(50+r.IntN(1000)) * time.Millisecond
	w.Mix.Long, w.Mix.Crash = r.Float64()*0.05, r.Float64()*0.02
	w.Mix.Try, w.Mix.Timeout, w.Mix.Cancel = r.Float64()*0.3, r.Float64()*0.3, r.Float64()*0.3
	w.latency = time.Duration(50+r.IntN(5000)) * time.Microsecond
	w.spread = 1 + 4*r.Float64()
	// The belief of a client depends on the servers' tick: with a short one the margin of a
	// deadline hides evidence that the client accepts by mistake.
	if tick := swarmTicks[r.IntN(len(swarmTicks))]; 2*tick <= w.SessionTimeout { // the shortest session
		w.tick = tick
	}
	// In a session that always has requests under way on a slow network, each answer comes while
	// later requests wait for theirs. No lease may be lost for that alone, which shows best in a run
	// without faults.
	if r.IntN(3) == 0 {
		w.Sessions = 1
		w.Mix.Rest = time.Duration(1+r.IntN(20)) * time.Millisecond
		w.latency = w.SessionTimeout / 250
		if drawn && r.IntN(2) == 0 {
			w.Faults = []string{"none"}
		}
	}
}

// shorten has one server grant shorter timeouts to clients that connect again, in one run of four with
// ticks so short that a lease can be kept.
func (w *world) shorten() {
	r := rand.New(rand.NewPCG(w.seed, 0x73686f7274))
	if shorter := w.SessionTimeout * 5 / 8; r.IntN(4) == 0 && 4*w.tick <= shorter {
		w.reconnected, w.Shortens = shorter, true
	}
}

// swarmTicks are the servers' ticks that swarm draws from.
var swarmTicks = []time.Duration{100 * time.Millisecond, 200 * time.Millisecond, 500 * time.Millisecond, time.Second}

// Edges is the plan that goes through placements.
const Edges = "edges"

// The faults of the plans of one fault, beside edgesFault.
const (
	islandFault = "isolate-holder-follower"
	leaseFault  = "deaf-leader" // besides clocks as fast and as slow as the contract of a lease allows
)

// island cuts off the follower of a client that holds a lock, every third session timeout: a
// fault that locks of stock clients do not survive.
func island(w *world) {
	r := w.draws()
	if w.Schedule != nil {
		return
	}
	t := w.SessionTimeout
	w.Schedule = &nemesis.Schedule{}
	for at := t / 2; at+3*t < w.Duration; at += 3*t + time.Duration(r.Int64N(int64(t))) {
		w.Schedule.Steps = append(w.Schedule.Steps, nemesis.Step{
			At: at + time.Duration(r.Int64N(int64(t)/2)), For: t + time.Duration(r.Int64N(int64(t)*6/5)), Fault: islandFault,
			Pick: fault.Pick{Aim: []fault.Aim{fault.AtHolder, fault.AtHolder, fault.AtWaiter}[r.IntN(3)], Draw: r.Uint32()},
		})
	}
}

// edges acts on a client at one message of one of its steps, and perhaps at a second one. The seed
// goes through all placements, see placement, of one recipe of the run's.
func edges(w *world) {
	n := w.seed
	if many := uint64(len(w.Recipes)); many > 1 {
		w.Recipes = w.Recipes[n%many : n%many+1]
		n /= many
	}
	if w.Clients == 0 {
		w.Clients = 5 // two of them share a session
	}
	if w.Locks == 0 {
		w.Locks = 1
	}
	r, t := w.draws(), w.SessionTimeout
	// By default two of five clients share a session; others of one session have more to hand over.
	w.Sessions = []int{0, 0, 3, 2}[r.IntN(4)]
	if len(w.Recipes) > 0 && w.Recipes[0] == histories.Handoff {
		w.Sessions = 2
	}
	w.Mix.Guarded, w.Mix.Cross = 0.5, 0.6 // what a lock promises while its node has gone unnoticed
	if r.IntN(2) == 0 {
		w.Mix.Rest = 40 * time.Millisecond // clients that call again at once
	}
	if r.IntN(4) == 0 {
		w.Mix.Hold = t / 5 // others wait for so long that two things can happen to them
	}
	if r.IntN(2) == 0 {
		w.Mix.Try, w.Mix.Timeout, w.Mix.Cancel = -1, -1, -1 // a client that is back after a while still waits
	}
	if r.IntN(2) == 0 {
		w.far = t / 250 // what it decides is old when its request arrives; swarm has a network as slow
	}
	if w.Schedule != nil {
		return
	}
	recipe := histories.Mutex
	if len(w.Recipes) > 0 {
		recipe = w.Recipes[0]
	}
	if recipe == histories.DoubleBarrier && r.IntN(2) == 0 {
		w.Mix.Patience = t // a member may stay inside while another has long left
	}
	every := t
	strikes := uint64(w.Duration / every)
	w.Schedule = &nemesis.Schedule{}
	for i := range strikes {
		p, cut := placementOf(recipe, w.Processes, n*strikes+i), []fault.Links{fault.OneLink, fault.AllLinks}[r.IntN(2)]
		if p.isReturn() {
			cut = fault.AllLinks // another server would have it back too soon
		}
		w.Schedule.Steps = append(w.Schedule.Steps, nemesis.Step{
			At: t/8 + time.Duration(i)*every, For: t / 8, Fault: edgesFault,
			Pick: fault.Pick{Aim: aimAt(p.Step), Draw: r.Uint32(), Links: cut, Params: p.params()},
		})
	}
}

// lease stops the leader around the answers that a holder's evidence consists of, drops one
// direction, and cuts off the holder after an answer. The seed also decides the servers' tick,
// and whether the leader's clock is fast or slow.
func lease(w *world) {
	if w.Clients == 0 && len(w.Recipes) == 1 {
		w.Clients = 9
	}
	if w.Locks == 0 {
		w.Locks = 3
	}
	m := &w.Mix
	m.Try, m.Timeout, m.Cancel, m.Crash, m.Long, m.HoldOn = -1, -1, -1, -1, -1, 1
	m.Hold, m.Rest = 300*time.Millisecond, 100*time.Millisecond
	w.latency = 100 * time.Microsecond
	t := w.SessionTimeout
	ticks := []time.Duration{t / 10, t / 4, t / 10, t / 2, t / 20}
	w.tick = ticks[w.seed%uint64(len(ticks))].Round(time.Millisecond)
	if w.Schedule != nil {
		return
	}
	r, every := w.draws(), 7*t/2
	w.Schedule = &nemesis.Schedule{Steps: []nemesis.Step{{
		For: w.Duration, Fault: "clock-rate",
		Pick: fault.Pick{Server: fault.TheLeader, Params: map[string]string{"rate": []string{"1.05", "1.05", "1.05", "1", "0.95"}[r.IntN(5)]}},
	}}}
	tables := [][]digit{heldBack, answeredFirst, chains, unasked}
	switch { // where half a tick is less than the margin of a lease, few chains can be refuted
	case w.tick < t/10:
		tables = [][]digit{heldBack, deposed, chains, deposed}
	case w.tick == t/10:
		tables = [][]digit{heldBack, answeredFirst, deposed, answeredFirst, chains, deposed}
	}
	strikes, rounds := uint64(w.Duration/every), w.seed/uint64(len(ticks))
	for i := range strikes {
		n := rounds*strikes + i
		of := uint64(len(tables))
		w.Schedule.Steps = append(w.Schedule.Steps, nemesis.Step{
			At: t/4 + time.Duration(i)*every + time.Duration(r.Int64N(int64(t/4))), For: 5 * t / 2, Fault: leaseFault,
			Pick: fault.Pick{Aim: fault.AtHolder, Draw: r.Uint32(), Params: strikeOf(tables[n%of], n/of, w.tick, 7*t/10)},
		})
	}
}

// SpecPaths is the plan that carries out paths of the models.
const SpecPaths = "spec"

// specPaths carries out paths of the models, one after the other, on one lock with as many clients as the
// paths have contenders. The seed goes through all paths. Nothing else happens to the clients.
func specPaths(w *world) {
	t := w.SessionTimeout
	every := 3 * t
	paths := pathsOf(w.seed, max(int(w.Duration/every), 1))
	if slices.Contains(w.Recipes, histories.Mutex) {
		w.Recipes = []histories.Recipe{histories.Mutex} // the models are of it
	}
	if w.Clients == 0 {
		w.Clients = paths[0].Contenders
	}
	if w.Locks == 0 {
		w.Locks = 1
	}
	w.Sessions = min(sessionsOf(paths[0]), w.Clients)
	m := &w.Mix
	m.Try, m.Timeout, m.Cancel, m.Crash, m.Long, m.Ended, m.Options, m.HoldOn = -1, -1, -1, -1, -1, -1, -1, 1
	m.Hold, m.Rest, m.Guarded = t/5, t/2, 1 // a client is alone now and then
	if w.Schedule != nil {
		return
	}
	w.Schedule = &nemesis.Schedule{}
	r := w.draws()
	for i, p := range paths {
		w.Schedule.Steps = append(w.Schedule.Steps, nemesis.Step{
			At: t/4 + time.Duration(i)*every, For: t / 8, Fault: edgesFault,
			Pick: fault.Pick{Aim: aimAt(placedAt(p.Faults[0]).step), Draw: r.Uint32(), Params: map[string]string{pathParam: p.String()}},
		})
	}
}
