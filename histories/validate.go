package histories

import (
	"errors"
	"fmt"
	"math"
)

// check reports the rule that e breaks. An event that breaks a rule does not change
// the validator, so a recorder may refuse it and go on.
func (v *validator) check(e *Event) error {
	if e.Time < 0 {
		return fmt.Errorf("time %d is negative", e.Time)
	}
	if e.Time < v.last {
		return fmt.Errorf("time runs backwards: %d after %d", e.Time, v.last)
	}
	if e.Time > maxTime {
		return fmt.Errorf("time %d is too late for a history", e.Time)
	}
	if e.Process < -1 || e.Process > math.MaxInt32 {
		return fmt.Errorf("process %d does not exist", e.Process)
	}
	if why := v.retired[e.Process]; why != "" && e.Type != Expired {
		return fmt.Errorf("%w: %s of process %d after %s", ErrRetired, e.Type, e.Process, why)
	}
	if err := v.fields(e); err != nil {
		return err
	}
	v.last = e.Time
	v.apply(e)
	return nil
}

// fields checks e alone, and against the operation or fault that it ends.
func (v *validator) fields(e *Event) error {
	if err := v.subject(e); err != nil {
		return err
	}
	switch e.Type {
	case Invoke:
		return v.invoke(e)
	case OK, Fail, Info:
		return v.completion(e)
	case Enqueued, RevokeRequested:
		if e.Lock == "" {
			return missing(e, "lock")
		}
		if e.Type == RevokeRequested && e.Token == (Token{}) {
			return missing(e, "token")
		}
		return needProcess(e)
	case Lost:
		if e.Lock == "" && e.Parts == nil {
			return missing(e, "lock")
		}
		return needProcess(e)
	case Suspended, Resumed, Crash, Closing, Closed:
		return needProcess(e)
	case Says:
		return says(e)
	case Expired:
		if e.Session == "" {
			return missing(e, "session")
		}
		return nil
	case FaultStart, FaultStop:
		return v.fault(e)
	case ServerSeen:
		return serverSeen(e)
	case Stalled:
		return v.stalled(e)
	case PhaseStart:
		return phaseStart(e)
	case CensusDone:
		return censusDone(e)
	case "":
		return errors.New(`required field "type" is missing`)
	}
	return fmt.Errorf("unknown type %q", e.Type)
}

func (v *validator) stalled(e *Event) error {
	if e.Since < v.last || e.Since >= e.Time {
		return fmt.Errorf("a process stood still from %d to %d, and the last event before is of %d", e.Since, e.Time, v.last)
	}
	return nil
}

func serverSeen(e *Event) error {
	switch {
	case e.Server == nil:
		return missing(e, "server")
	case e.Server.ID < 1:
		return fmt.Errorf("server %d does not exist", e.Server.ID)
	case !e.Server.State.known():
		return fmt.Errorf("unknown state %q of server %d", e.Server.State, e.Server.ID)
	}
	return nil
}

func phaseStart(e *Event) error {
	switch e.Phase {
	case PhaseChaos, PhaseRecovery, PhaseEnd:
		return nil
	case "":
		return missing(e, "phase")
	}
	return fmt.Errorf("unknown phase %q", e.Phase)
}

func censusDone(e *Event) error {
	if e.Census == nil {
		return missing(e, "census")
	}
	if e.Census.Watches < 0 {
		return fmt.Errorf("%d watches", e.Census.Watches)
	}
	if w := e.Census.Write; w < 0 || w > maxTime {
		return fmt.Errorf("a write took %d ns", w)
	}
	for _, s := range e.Census.Silences {
		if s.From < 0 || s.To < s.From || s.To > maxTime {
			return fmt.Errorf("worker %d was silent from %d to %d ns", s.Worker, s.From, s.To)
		}
	}
	for _, c := range e.Census.Connects {
		if c.Client < 0 || c.Most < 0 || c.Attempts < c.Most || c.Ago < 0 || c.Ago > maxTime {
			return fmt.Errorf("client %d has connected %d times, %d of them %d ns ago", c.Client, c.Attempts, c.Most, c.Ago)
		}
		if c.Repeats < 0 || c.RepeatsAgo < 0 || c.RepeatsAgo > maxTime {
			return fmt.Errorf("client %d has asked again %d times, %d ns ago", c.Client, c.Repeats, c.RepeatsAgo)
		}
	}
	return nil
}

func (v *validator) fault(e *Event) error {
	if e.Fault == nil {
		return missing(e, "fault")
	}
	if e.Fault.Name == "" {
		return missing(e, "fault.name")
	}
	name, active := v.faults[e.Fault.ID]
	switch {
	case e.Type == FaultStart && active:
		return fmt.Errorf("fault %d starts while it is active", e.Fault.ID)
	case e.Type == FaultStop && !active:
		return fmt.Errorf("fault %d stops but never started", e.Fault.ID)
	case e.Type == FaultStop && name != e.Fault.Name:
		return fmt.Errorf("fault %d stops as %q but started as %q", e.Fault.ID, e.Fault.Name, name)
	}
	return nil
}

func (v *validator) apply(e *Event) {
	switch e.Type {
	case Invoke:
		v.open[e.Process] = Event{
			Op: e.Op, Lock: e.Lock, Parts: e.Parts, Store: e.Store, Owner: e.Owner,
			Mode: e.Mode, Permits: e.Permits, Size: e.Size, Generation: e.Generation, Token: e.Token,
		}
	case OK, Fail:
		delete(v.open, e.Process)
	case Info:
		delete(v.open, e.Process)
		v.retired[e.Process] = "an operation of it ended in info"
	case Crash:
		delete(v.open, e.Process)
		v.retired[e.Process] = "its crash"
	case FaultStart:
		v.faults[e.Fault.ID] = e.Fault.Name
	case FaultStop:
		delete(v.faults, e.Fault.ID)
	}
}
