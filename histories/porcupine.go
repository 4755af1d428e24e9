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

// porcupineEnding is the ending of the name of a file for Porcupine.
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
// their invocations, of objects with the fields of Porcupine's Operation, to be checked
// against a model of your own:
//
//	[{"ClientId":0,"Input":{"lock":"orders","op":"acquire","process":0},"Call":1200,"Output":{"depth":1,"token":{"zxid":41},"type":"ok"},"Return":2500,"Metadata":"lines 2 to 4"}
//	,…
//	]
//
// Input has the fields of the invocation, and Output the fields that the completion
// adds or changes, under their names in an [Event]; zero fields are left out. The
// times are in nanoseconds. Output's type is "ok", "fail" (the operation had no effect)
// or "info" (it is unknown whether the operation took effect). An operation that is info,
// or was never answered, may take effect at any time: it returns at the greatest int64.
//
// Events of two other types are written as operations too, since they end the holds of a
// process: their op is "lost" or "crash", and they last from their time to
// the greatest int64, as the service may take the lock back at any time from then
// on. Each has a client of its own, so that it does not overlap the operations of its
// process; every Input names the process.
//
// The header, places in queues, faults and all other events are left out, so the file
// cannot be read back.
func EncodePorcupine(w io.Writer, h *History) error {
	return EncodeAs(w, porcupineEnding, h.Header, each(h.Events))
}

// begun is an operation, or an event that is written as one, that waits for its answer or for
// the operations before it.
type begun struct {
	i        int // index of its invocation
	e        Event
	done     int // index of its answer
	answer   Event
	answered bool
	final    bool // there is no answer to wait for
}

// encodePorcupine keeps open operations, and the operations after them, in memory: operations are
// written in the order of their invocations.
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

// answersOf returns an upper bound of the number of processes, and the indexes of the invocations
// without an answer.
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

// operation converts it to an operation of Porcupine.
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
