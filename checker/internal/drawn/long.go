package drawn

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// longUnit is the unit of the clock of long histories. Their bounds have the size of those of
// real runs, so that the effects of faults end.
const longUnit = 20 * time.Millisecond

// Long draws a history of hundreds to thousands of events, determined by a seed. It has many
// locks, few of which are used at a time; the others are idle, held or not, until they are used
// again. Meanwhile faults begin and end, and sessions end. It has a recovery phase.
func Long(seed uint64) *histories.History {
	r := rand.New(rand.NewPCG(seed, seed))
	var recipes []histories.Recipe
	for range 1 + r.IntN(3) {
		recipes = append(recipes, Families[r.IntN(len(Families))].Recipes...)
	}
	several := slices.Clone(recipes)
	for len(recipes) < 6+r.IntN(30) {
		recipes = append(recipes, several[r.IntN(len(several))])
	}
	w := newWorld(r.IntN, longUnit, recipes)
	w.h.Header.Promises.TurnBound = 10 * longUnit
	w.h.Header.Servers = 3
	w.phase(histories.PhaseChaos)
	var under []*histories.Fault // faults in force
	steps := 300 + r.IntN(2500)
	for i := range steps {
		w.now += time.Duration(r.IntN(3)) * longUnit / 2
		if i%(20+steps/20) == 0 {
			w.goesOn()
		}
		switch {
		case i == steps-steps/8:
			for _, f := range under {
				w.record(nil, histories.FaultStop, histories.Event{Fault: f})
			}
			under = nil
			w.phase(histories.PhaseRecovery)
		case i > steps-steps/8:
		case len(under) > 0 && r.IntN(25) == 0:
			k := r.IntN(len(under))
			w.record(nil, histories.FaultStop, histories.Event{Fault: under[k]})
			under = slices.Delete(under, k, k+1)
		case r.IntN(40) == 0:
			under = append(under, w.fault())
			w.record(nil, histories.FaultStart, histories.Event{Fault: under[len(under)-1]})
		case r.IntN(200) == 0:
			since := w.h.Events[len(w.h.Events)-1].Time
			w.now += longUnit
			w.record(nil, histories.Stalled, histories.Event{Since: since})
		}
		w.step()
	}
	w.phase(histories.PhaseEnd)
	return w.h
}

func (w *world) phase(name string) {
	w.record(nil, histories.PhaseStart, histories.Event{Phase: name})
}

// goesOn selects other locks to use.
func (w *world) goesOn() {
	w.used = nil
	for range 1 + w.oneOf(3) {
		w.used = append(w.used, w.locks[w.oneOf(len(w.locks))])
	}
}

// fault draws a fault, of a client or of a server.
func (w *world) fault() *histories.Fault {
	w.faults++
	c := w.clients[w.oneOf(len(w.clients))]
	f := &histories.Fault{ID: w.faults, Processes: []int{c.process}, Targets: []string{fmt.Sprint("client ", c.process)}}
	switch w.oneOf(5) {
	case 0:
		f.Name = histories.WorkerPause
	case 1:
		f.Name, f.Params = histories.ForcedExpiry, map[string]string{"session": c.session()}
		c.forced = w.now
	case 2:
		if f.Name = "reset"; len(c.leases) > 0 {
			e := &c.leases[w.oneOf(len(c.leases))].event
			f.Name, f.Params = histories.NodeDeletion, map[string]string{"lock": locksOf(e)[0], "token": strconv.FormatInt(e.Token.Zxid, 10), "session": c.session()}
		}
	case 3:
		f.Name = "down"
	default:
		f.Name, f.Processes, f.Targets = "crash-server", nil, []string{"server 1"}
	}
	return f
}
