package nemesis

import (
	"fmt"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// FromHistory returns the schedule that a recorded run carried out: the same
// faults at the same offsets from the beginning of its chaos phase, with the same
// details. A fault that was aimed at clients in some state prefers the client that
// it hit, if that client is in the state again. A fault that hit a server because it was
// the leader hits the current leader. Kinds are the kinds that the run could meet:
// FromHistory returns an error for any other fault, such as one of Jepsen's.
func FromHistory(h *histories.History, kinds fault.Kinds) (Schedule, error) {
	var s Schedule
	began := time.Duration(-1)
	open := make(map[int]int) // fault → its step
	var unsaid []bool         // steps whose length was not recorded at the start
	for i := range h.Events {
		e := &h.Events[i]
		switch {
		case e.Type == histories.PhaseStart && e.Phase == histories.PhaseChaos && began < 0:
			began = e.Time
		case e.Type == histories.FaultStart:
			step, known, err := stepOf(kinds, e, max(began, 0))
			if err != nil {
				return Schedule{}, fmt.Errorf("line %d of the history: %w", histories.Line(i), err)
			}
			open[e.Fault.ID] = len(s.Steps)
			s.Steps, unsaid = append(s.Steps, step), append(unsaid, !known)
		case e.Type == histories.FaultStop:
			if n, ok := open[e.Fault.ID]; ok && unsaid[n] {
				s.Steps[n].For = e.Time - max(began, 0) - s.Steps[n].At
			}
		}
	}
	return s, nil
}

// stepOf returns the step of a recorded fault; known is true if its length was recorded.
func stepOf(kinds fault.Kinds, e *histories.Event, began time.Duration) (step Step, known bool, err error) {
	f := e.Fault
	step = Step{At: max(0, e.Time-began), Fault: f.Name}
	kind, err := kinds.Named(f.Name)
	if err != nil {
		return step, false, err
	}
	if d, err := time.ParseDuration(f.Params["for"]); err == nil {
		step.For, known = d, true
	}
	p := &step.Pick
	p.Aim = fault.Aim(f.Params["aim"])
	if _, err := fmt.Sscan(f.Params["draw"], &p.Draw); err != nil {
		p.Draw = 0 // not recorded: the other parameters decide
	}
	if len(f.Targets) > 0 {
		if n, ok := numbered(f.Targets[0], "client"); ok && !kind.OfServers() {
			p.Client = &n
		}
		if n, ok := numbered(f.Targets[0], "server"); ok && kind.Server {
			p.Server = fault.Server(fmt.Sprint(n))
		}
	}
	if kind.Server && f.Params["role"] == string(fault.TheLeader) {
		p.Server = fault.TheLeader
	}
	for _, name := range []string{"bridge", "follower"} {
		if n, ok := numbered(f.Params[name], "server"); ok {
			p.Server = fault.Server(fmt.Sprint(n))
		}
	}
	switch scope := f.Params["links"]; {
	case !kind.Links || scope == "":
	case scope == fault.AllServers:
		p.Links = fault.AllLinks
	default:
		p.Links = fault.OneLink
	}
	for _, q := range kind.Params {
		if value, ok := f.Params[q.Name]; ok {
			if p.Params == nil {
				p.Params = make(map[string]string)
			}
			p.Params[q.Name] = value
		}
	}
	return step, known, step.check(kinds)
}
