package histories

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

// nemesis turns what Jepsen's nemesis did into faults. Each of its operations
// stands in the history twice, as invocation and as completion, both :info.
func (j *jepsen) nemesis(fields map[string]any) (e Event, skip bool, err error) {
	at, ok := fields["time"].(int64)
	if !ok {
		return e, false, fmt.Errorf("the time of an operation is an integer, not %T", fields["time"])
	}
	f := word(fields["f"])
	if f == "" {
		return e, false, errors.New("a nemesis operation has no :f")
	}
	name, begin, end := f, true, true
	if n, ok := strings.CutPrefix(f, "start"); ok {
		name, end = strings.TrimPrefix(n, "-"), false
	} else if n, ok := strings.CutPrefix(f, "stop"); ok {
		name, begin = strings.TrimPrefix(n, "-"), false
	}
	if name == "" {
		name = "nemesis"
	}
	e = Event{Time: time.Duration(at), Process: -1}
	switch fault := j.active[name]; {
	case fault == nil && begin:
		j.nextID++
		e.Type, e.Fault = FaultStart, &Fault{ID: j.nextID, Name: name}
		j.active[name] = e.Fault
	case fault != nil && end:
		e.Type, e.Fault = FaultStop, fault
		delete(j.active, name)
	default:
		return e, true, nil // the second of a pair
	}
	return e, false, nil
}
