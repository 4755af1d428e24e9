package checker

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// State is what a process is doing with a lock.
type State string

// The states in which a fault can meet a process.
const (
	Idle      State = "idle"      // it neither holds nor wants any lock
	Enqueuing State = "enqueuing" // its acquire has no place in the queue yet
	Waiting   State = "waiting"   // its acquire has a place, or it waits at a barrier
	Holding   State = "holding"
	Releasing State = "releasing"
)

// States lists them in the order of a lock's life.
func States() []State { return []State{Idle, Enqueuing, Waiting, Holding, Releasing} }

// Coverage counts, for each fault, how often its start met a process that it
// hit in each state. Every state is a key of every row, so that what was never
// met is there to be seen.
type Coverage []CoverageRow

// CoverageRow is one kind of fault.
type CoverageRow struct {
	Fault  string        `json:"fault"`
	Starts int           `json:"starts"`
	Met    map[State]int `json:"met"`
}

// Missed counts the states that no fault of this kind ever met.
func (r *CoverageRow) Missed() int {
	n := 0
	for _, s := range States() {
		if r.Met[s] == 0 {
			n++
		}
	}
	return n
}

func (t *trace) coverage() Coverage {
	rows := map[string]*CoverageRow{}
	var names []string
	for _, f := range t.faults {
		row := rows[f.Name]
		if row == nil {
			row = &CoverageRow{Fault: f.Name, Met: map[State]int{}}
			for _, s := range States() {
				row.Met[s] = 0
			}
			rows[f.Name] = row
			names = append(names, f.Name)
		}
		row.Starts++
		t.meet(f, row.Met)
	}
	slices.Sort(names)
	out := make(Coverage, 0, len(names))
	for _, n := range names {
		out = append(out, *rows[n])
	}
	return out
}

// meet counts the states in which the start of f found the processes it hit. A
// process that holds one lock and waits for another counts in both.
func (t *trace) meet(f *faultSpan, met map[State]int) {
	busy := map[int]bool{}
	see := func(process int, s State) {
		if f.hits(process) {
			met[s]++
			busy[process] = true
		}
	}
	for _, h := range t.holds {
		if h.acquire.part == 0 && h.acrossStart(f) {
			see(h.process, Holding)
		}
	}
	for _, o := range t.ops {
		if o.invoke > f.event {
			break
		}
		if o.part > 0 || o.done >= 0 && o.done < f.event || t.goneBy(o.process, f) {
			continue
		}
		switch {
		case o.kind == histories.Release:
			see(o.process, Releasing)
		case o.passes(), o.acquires() && len(o.places) > 0 && o.places[0].event < f.event:
			see(o.process, Waiting)
		case o.acquires():
			see(o.process, Enqueuing)
		}
	}
	for _, p := range t.procs {
		if !busy[p] && f.hits(p) && !t.goneBy(p, f) {
			met[Idle]++
		}
	}
}

// acrossStart reports whether the hold lasted when f began.
func (h *hold) acrossStart(f *faultSpan) bool {
	return h.acquire.done < f.event && (h.endEvent < 0 || h.endEvent > f.event)
}

func (t *trace) goneBy(process int, f *faultSpan) bool {
	at, gone := t.retired[process]
	return gone && at <= f.start
}

// figures are those of the run as a whole.
func (t *trace) figures() []Figure {
	across, lost := 0, 0
	for _, f := range t.faults {
		for _, h := range t.holds {
			if h.acquire.part == 0 && h.acrossStart(f) && f.hits(h.process) {
				across++
			}
		}
	}
	seen := map[string]bool{}
	count := func(session string, from, to int64) {
		if at, ok := t.expired[session]; ok && session != "" && !seen[session] && int64(at) >= from && int64(at) <= to {
			seen[session] = true
			lost++
		}
	}
	for _, h := range t.holds {
		end := h.end
		if h.why == byLoss {
			end = forever // told ahead of time
		}
		count(h.session, int64(h.start), int64(end))
	}
	for _, o := range t.ops {
		for _, p := range o.places {
			count(p.session, int64(p.time), int64(o.ret))
		}
	}
	ops := map[histories.Type]int{}
	for _, o := range t.ops {
		if o.part == 0 {
			ops[o.result]++
		}
	}
	return []Figure{
		{"operations", float64(t.invoked), ""},
		{"operations without an answer", float64(ops[""] + ops[histories.Info]), ""},
		{"faults", float64(len(t.faults)), ""},
		{"leases held across a fault's start", float64(across), ""},
		{"sessions expired while holding or waiting", float64(lost), ""},
	}
}

// shownNothing returns why the run as a whole says nothing about the target
// under faults, or about one of its recipes, or "".
func (t *trace) shownNothing(c Coverage, uses []RecipeUse) string {
	if len(t.faults) == 0 {
		if f := t.h.Header.Options["faults"]; f != "" && f != "none" {
			return "faults were asked for, but none started"
		}
		return ""
	}
	held := slices.ContainsFunc(c, func(row CoverageRow) bool { return row.Met[Holding] > 0 })
	var missed []string
	locks := 0
	for _, u := range uses {
		if !u.Recipe.IsLock() {
			continue
		}
		locks++
		if u.Held == 0 {
			missed = append(missed, string(u.Recipe))
		}
	}
	switch {
	case locks == 0: // barriers alone: nobody holds anything
		return ""
	case !held:
		return "no lease was held when a fault started: the faults have shown nothing"
	case len(missed) > 0:
		return "no lease of " + strings.Join(missed, ", ") + " was held when a fault started: the faults have shown nothing of it"
	}
	return ""
}
