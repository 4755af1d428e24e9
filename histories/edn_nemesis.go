package histories

import "strings"

// nemesis turns what Jepsen's nemesis did into faults. Each of its operations
// stands in the history twice, as invocation and as completion, both :info. It
// reports false for the second of a pair.
func (j *jepsen) nemesis(f string, e *Event) bool {
	name, begin, end := f, true, true
	if n, ok := strings.CutPrefix(f, "start"); ok {
		name, end = strings.TrimPrefix(n, "-"), false
	} else if n, ok := strings.CutPrefix(f, "stop"); ok {
		name, begin = strings.TrimPrefix(n, "-"), false
	}
	if name == "" {
		name = "nemesis"
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
