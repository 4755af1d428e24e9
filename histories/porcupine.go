package histories

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"iter"
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
	return EncodeAs(w, porcupineEnding, h.Header, each(h.Events))
}

// begun is an operation, or an event that is written as one, that waits for its answer or for
// those before it.
type begun struct {
	i        int // index of its invocation
	e        Event
	done     int // index of its answer
	answer   Event
	answered bool
	final    bool // there is no answer to wait for
}

// encodePorcupine keeps what is under way, and what came after it: operations are written in
// the order of their invocations.
func encodePorcupine(b *bufio.Writer, _ *Header, events iter.Seq2[*Event, error]) error {
	clients, never, err := answersOf(events)
	if err != nil {
		return err
	}
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	before := "["
	var waiting []*begun
	open := map[int]*begun{}
	i := -1
	for e, err := range events {
		if err != nil {
			return err
		}
		switch i++; e.Type {
		case Invoke, Lost, Crash:
			o := &begun{i: i, e: *e, final: e.Type != Invoke || never[i]}
			waiting = append(waiting, o)
			if e.Type == Invoke {
				open[e.Process] = o
			}
		case OK, Fail, Info:
			o := open[e.Process]
			o.done, o.answer, o.answered, o.final = i, *e, true, true
			delete(open, e.Process)
		}
		for len(waiting) > 0 && waiting[0].final {
			o, err := waiting[0].operation()
			if err != nil {
				return err
			}
			if waiting[0].e.Type != Invoke {
				o.ClientId = clients
				clients++
			}
			fmt.Fprint(b, before)
			if err := enc.Encode(o); err != nil { // with a newline
				return err
			}
			waiting[0], waiting, before = nil, waiting[1:], ","
		}
	}
	if before == "[" {
		fmt.Fprint(b, before)
	}
	_, err = fmt.Fprintln(b, "]")
	return err
}

// answersOf returns how many processes there may be, and the invocations that have no answer.
func answersOf(events iter.Seq2[*Event, error]) (clients int, never map[int]bool, err error) {
	open := map[int]int{}
	i := -1
	for e, err := range events {
		if err != nil {
			return 0, nil, err
		}
		i++
		clients = max(clients, e.Process+1)
		switch e.Type {
		case Invoke:
			open[e.Process] = i
		case OK, Fail, Info:
			delete(open, e.Process)
		}
	}
	never = map[int]bool{}
	for _, i := range open {
		never[i] = true
	}
	return clients, never, nil
}

// operation returns it as Porcupine has it.
func (u *begun) operation() (*porcupineOperation, error) {
	e := &u.e
	in, err := jsonObject(e)
	if err != nil {
		return nil, err
	}
	delete(in, "time")
	delete(in, "type")
	o := &porcupineOperation{
		ClientId: e.Process, Input: in, Call: int64(e.Time),
		Output: map[string]any{"type": Info}, Return: math.MaxInt64, Metadata: fmt.Sprintf("line %d", Line(u.i)),
	}
	if e.Type != Invoke {
		in["op"] = e.Type
		return o, nil
	}
	if !u.answered {
		return o, nil
	}
	if o.Output, err = jsonObject(&u.answer); err != nil {
		return nil, err
	}
	for name, was := range in {
		if reflect.DeepEqual(o.Output[name], was) {
			delete(o.Output, name)
		}
	}
	delete(o.Output, "time")
	delete(o.Output, "process")
	o.Metadata = fmt.Sprintf("lines %d to %d", Line(u.i), Line(u.done))
	if u.answer.Type != Info {
		o.Return = int64(u.answer.Time)
	}
	return o, nil
}
