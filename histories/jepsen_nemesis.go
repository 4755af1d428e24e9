package histories

import "strings"

// nemesisEnds has the operations that end a fault of another name, as Jepsen's own nemeses name
// them (jepsen.nemesis.combined, jepsen.nemesis.time).
var nemesisEnds = map[string]string{
	"start": "kill", "restart": "kill", "resume": "pause", "unpause": "pause",
	"reset-clock": "clock", "reset": "clock", "heal": "partition", "recover": "partition",
}

// nemesisNames have the faults of operations that do not name them.
var nemesisNames = map[string]string{
	"bump-clock": "clock", "strobe-clock": "clock", "bump": "clock", "strobe": "clock",
}

// nemesisLooks are operations that change nothing.
var nemesisLooks = map[string]bool{"check-offsets": true, "check-clock-offsets": true}

// ended are the faults that an operation of a file ends, of those that the nemesis has done.
func ended(did map[string]bool) map[string]bool {
	out := map[string]bool{}
	for f := range did {
		if name, ends := nemesisEnds[f]; ends && (f != "start" || did["kill"] && !did["stop"]) {
			out[name] = true
		}
	}
	return out
}

// nemesis turns what Jepsen's nemesis did into faults. Each of its operations
// stands in the history twice, as invocation and as completion, both :info. It
// reports false for what neither begins nor ends a fault.
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
