package histories

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"reflect"
)

// porcupineEnding is how the name of a file for Porcupine ends.
const porcupineEnding = ".porcupine.json"

// porcupineOperation has the fields of porcupine.Operation.
type porcupineOperation struct {
	ClientId int //nolint:revive // as Porcupine spells it
	Input    map[string]any
	Call     int64
	Output   map[string]any
	Return   int64
	Metadata string
}

// EncodePorcupine writes the operations of h as a JSON array, in the order of
// their invocations, of objects with the fields of Porcupine's Operation, for a
// model of one's own:
//
//	[{"ClientId":0,"Input":{"lock":"orders","op":"acquire","process":0},"Call":1200,"Output":{"depth":1,"token":{"zxid":41},"type":"ok"},"Return":2500,"Metadata":"lines 2 to 4"}
//	,…
//	]
//
// Input has the fields of the invocation, and Output those that the completion
// adds or changes, under their names in an [Event]; what is zero is left out. The
// times are in nanoseconds. Output's type is "ok", "fail" (it had no effect) or
// "info" (nobody knows). What is info, or was never answered, may take effect at
// any time: it returns at the greatest int64.
//
// Two events that are no operations are written as such, since they end what a
// process holds: their op is "lost" or "crash", and they last from their time to
// the greatest int64, as the service may take the lock back at any time from then
// on. Each is of a client of its own, so that it overlaps nothing of its
// process, which every Input names.
//
// All else, the header, places in queues and faults, is left out, so that the
// file cannot be read back.
func EncodePorcupine(w io.Writer, h *History) error {
	completions := map[int]int{} // by invocation
	open := map[int]int{}
	clients := 0
	for i := range h.Events {
		e := &h.Events[i]
		clients = max(clients, e.Process+1)
		switch e.Type {
		case Invoke:
			open[e.Process] = i
		case OK, Fail, Info:
			completions[open[e.Process]] = i
		}
	}
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	before := "["
	for i := range h.Events {
		e := &h.Events[i]
		if e.Type != Invoke && e.Type != Lost && e.Type != Crash {
			continue
		}
		o, err := porcupineOf(h, i, completions)
		if err != nil {
			return err
		}
		if e.Type != Invoke {
			o.ClientId = clients
			clients++
		}
		fmt.Fprint(b, before)
		if err := enc.Encode(o); err != nil { // with a newline
			return err
		}
		before = ","
	}
	if before == "[" {
		fmt.Fprint(b, before)
	}
	fmt.Fprintln(b, "]")
	return b.Flush()
}

// porcupineOf returns the operation that event i begins.
func porcupineOf(h *History, i int, completions map[int]int) (*porcupineOperation, error) {
	e := &h.Events[i]
	in, err := jsonObject(e)
	if err != nil {
		return nil, err
	}
	delete(in, "time")
	delete(in, "type")
	o := &porcupineOperation{
		ClientId: e.Process, Input: in, Call: int64(e.Time),
		Output: map[string]any{"type": Info}, Return: math.MaxInt64, Metadata: fmt.Sprintf("line %d", Line(i)),
	}
	if e.Type != Invoke {
		in["op"] = e.Type
		return o, nil
	}
	done, answered := completions[i]
	if !answered {
		return o, nil
	}
	a := &h.Events[done]
	if o.Output, err = jsonObject(a); err != nil {
		return nil, err
	}
	for name, was := range in {
		if reflect.DeepEqual(o.Output[name], was) {
			delete(o.Output, name)
		}
	}
	delete(o.Output, "time")
	delete(o.Output, "process")
	o.Metadata = fmt.Sprintf("lines %d to %d", Line(i), Line(done))
	if a.Type != Info {
		o.Return = int64(a.Time)
	}
	return o, nil
}
