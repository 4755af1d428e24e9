package simulation

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	model "github.com/zkverify/zkverify/spec"
)

// SpecPaths is the plan that carries out paths of the models.
const SpecPaths = "spec"

// pathParam is the parameter of an at-message that carries out a path: the path, see model.Path. Its faults
// decide the parameters that are left out then.
const pathParam = "path"

// pathsNamed returns the paths by their texts.
var pathsNamed = sync.OnceValue(func() map[string]model.Path {
	all := map[string]model.Path{}
	for _, p := range model.Paths() {
		all[p.String()] = p
	}
	return all
})

func checkPath(name string) error {
	if p, ok := pathsNamed()[name]; !ok || len(p.Faults) == 0 {
		return fmt.Errorf("%s is %q: want a path of spec/paths.txt that has a fault", pathParam, name)
	}
	return nil
}

// crowds returns the paths that have a fault, by the clients that they need: each run has those of one.
// Counter-examples come first, then single faults.
var crowds = sync.OnceValue(func() (all [][]model.Path) {
	at, seen := map[[2]int]int{}, map[string]bool{}
	for _, p := range model.Paths() {
		if len(p.Faults) == 0 || seen[p.String()] {
			continue
		}
		seen[p.String()] = true
		key := [2]int{p.Contenders, sessionsOf(p)}
		if _, known := at[key]; !known {
			at[key], all = len(all), append(all, nil)
		}
		all[at[key]] = append(all[at[key]], p)
	}
	rank := func(p model.Path) int {
		if len(p.Mistakes) > 0 {
			return 0
		}
		return len(p.Faults)
	}
	for _, paths := range all {
		slices.SortStableFunc(paths, func(a, b model.Path) int { return rank(a) - rank(b) })
	}
	return all
})

// sessionsOf returns workload.Config.Sessions for the contenders of a path.
func sessionsOf(p model.Path) int {
	if p.Shared {
		return p.Contenders - 1
	}
	return p.Contenders
}

// pathsOf returns the paths that the n-th run carries out, at most so many: consecutive runs go through all.
func pathsOf(n uint64, most int) []model.Path {
	var runs [][]model.Path
	for begin, more := 0, true; more; begin += most {
		more = false
		for _, paths := range crowds() {
			if begin < len(paths) {
				runs, more = append(runs, paths[begin:min(begin+most, len(paths))]), true
			}
		}
	}
	return runs[n%uint64(len(runs))]
}

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

// spot is where a strike acts for a fault of a path.
type spot struct{ step, at string }

// placedAt returns where a strike acts for a fault of a path: the step of the client, and the message of it.
func placedAt(f model.PathFault) spot {
	sort, _, _ := strings.Cut(f.Step, ".")
	switch sort {
	case momentCreate, momentSettle:
		return spot{stepAcquire, f.Step}
	case momentDelete:
		return spot{stepRelease, f.Step}
	case momentWrite:
		return spot{stepHold, f.Step}
	case "wait":
		return spot{stepQueued, ""}
	case "turn":
		return spot{stepTurn, momentEvent}
	}
	return spot{stepHold, ""}
}

// place has a strike act as a fault of a path does. A draw decides whether a request that a broken
// connection meets is lost, or carried out and its answer lost, and whether what is said during a silence is
// lost, or heard after it.
func (k *strike) place(f model.PathFault) {
	t := k.scene.SessionTimeout()
	where := placedAt(f)
	k.step, k.at, k.ahead, k.behind, k.message = where.step, where.at, f.Ahead, f.Behind, 0
	k.patience, k.limit = 3*t, t
	lost, silent, even := links.Down, links.BlackHole, k.scene.Pick.Draw%2 == 0
	if even && strings.HasSuffix(f.Step, askedSuffix) {
		lost = links.RepliesLost
	}
	if even {
		silent = simulated.HeldBack
	}
	length := lengths[0]
	switch f.Fault {
	case "break":
		k.act = string(lost)
	case "silence":
		k.act, length = string(silent), lengths[1]
	case "expire":
		k.act, length = string(silent), lengths[2]
	case "cancel":
		k.act = cancelAct
	case "crash":
		k.act = crashAct
	case "deposed":
		k.act = expireAct
	case "delete":
		k.act = deleteAct
	case "overtake":
		k.act = holdBackAct
	}
	k.length = time.Duration(length) * t / 100
	if k.cut = k.all; f.Fault == "break" {
		k.cut = k.linked
	}
}

// follow has a strike carry out a path, if its parameters name one: it acts for the first fault, and one that
// it begins for the second.
func (k *strike) follow() error {
	p, ok := pathsNamed()[k.scene.Pick.Params[pathParam]]
	if !ok {
		return nil
	}
	k.place(p.Faults[0])
	if len(p.Faults) == 1 {
		return nil
	}
	f, c := p.Faults[1], k.client
	if f.Other {
		var others []fault.Client
		for _, o := range k.scene.Free {
			if o.Index != c.Index {
				others = append(others, o)
			}
		}
		if len(others) == 0 {
			return fault.ErrNobody
		}
		c = others[int(k.scene.Pick.Draw/2)%len(others)]
	}
	next, err := newStrike(k.scene, c)
	if err != nil {
		return err
	}
	next.place(f)
	next.patience, next.limit = k.length+next.patience/3, k.length+next.limit
	if !f.Other {
		if f.Step == "lost" || next.at != "" {
			next.step = "" // it is already there
		}
		if isCut(k.act) {
			next.length = max(next.length, k.length)
		}
	}
	k.next = next
	return nil
}

// PathsDone counts the paths of the models that the plan spec has carried out, each once.
type PathsDone struct {
	Tried
	// Left has those that were tried, and had a fault that did not take place.
	Left []string `json:"left,omitempty"`
}

// pathText is Outcome.Placements for a path.
func pathText(name string) string { return pathParam + " " + name }

// pathsDone sums up the paths among the placements of all runs of a sweep.
func pathsDone(placements map[string]bool) (d PathsDone) {
	for _, paths := range crowds() {
		d.All += len(paths)
		for _, p := range paths {
			made, tried := placements[pathText(p.String())]
			if tried {
				d.add(made)
			}
			if tried && !made {
				d.Left = append(d.Left, p.String())
			}
		}
	}
	return d
}

// String describes them in a line.
func (d PathsDone) String() string {
	return fmt.Sprintf("%d of %d paths of the models were carried out, of %d that were tried", d.Made, d.All, d.Tried.Tried)
}

// faultsOf returns the number of acts of a strike, by its parameters.
func faultsOf(params map[string]string) int {
	if p, ok := pathsNamed()[params[pathParam]]; ok {
		return len(p.Faults)
	}
	if params["then"] != "" {
		return 2
	}
	return 1
}
