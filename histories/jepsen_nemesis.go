package histories

import "strings"

// nemesisEnds maps operations to the fault that they end, if it has another name, as in Jepsen's
// own nemeses (jepsen.nemesis.combined, jepsen.nemesis.time).
var nemesisEnds = map[string]string{
	"start": "kill", "restart": "kill", "resume": "pause", "unpause": "pause",
	"reset-clock": "clock", "reset": "clock", "heal": "partition", "recover": "partition",
}

// nemesisNames maps operations whose name is not the fault's to the name of the fault.
var nemesisNames = map[string]string{
	"bump-clock": "clock", "strobe-clock": "clock", "bump": "clock", "strobe": "clock",
}

// nemesisLooks are operations that only observe.
var nemesisLooks = map[string]bool{"check-offsets": true, "check-clock-offsets": true}

// ended returns the faults that the nemesis ends by an operation of another name, given the :f of
// all its operations.
func ended(did map[string]bool) map[string]bool {
	out := map[string]bool{}
	for f := range did {
		if name, ends := nemesisEnds[f]; ends && (f != "start" || did["kill"] && !did["stop"]) {
			out[name] = true
		}
	}
	return out
}

// nemesis converts the operations of Jepsen's nemesis to faults. Each operation
// is in the history twice, as invocation and as completion, both :info. It
// reports false if the operation neither begins nor ends a fault.
func (j *jepsen) nemesis(f string, e *Event) bool {
	if nemesisLooks[f] {
		return false
	}
	name, begin, end := f, true, true
	if n, ok := nemesisNames[f]; ok {
		name = n
	}
	if n, ok := nemesisEnds[f]; ok && (f != "start" || j.reading.ended[n]) {
		name, begin = n, false
	} else if n, ok := strings.CutPrefix(f, "start"); ok && (n == "" || n[0] == '-') {
		name, end = strings.TrimPrefix(n, "-"), false
	} else if n, ok := strings.CutPrefix(f, "stop"); ok && (n == "" || n[0] == '-') {
		name, begin = strings.TrimPrefix(n, "-"), false
	} else if j.reading.ended[name] || nemesisNames[f] != "" {
		end = false
	}
	if name == "" {
		name = nemesisName
	}
	switch fault := j.active[name]; {
	case fault == nil && begin:
		j.nextID++
		e.Type, e.Fault = FaultStart, &Fault{ID: j.nextID, Name: name}
		j.active[name] = e.Fault
	case fault != nil && end:
		e.Type, e.Fault = FaultStop, fault
		delete(j.active, name)
	default:
		return false
	}
	return true
}
