package histories

import (
	"cmp"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strings"
	"time"
)

// jepsenOp is one operation of a file.
type jepsenOp struct {
	event Event
	line  int // of the file, on which it ends

	kind, f string // :type and :f
	process int64  // unless word is set
	word    string // the process, if it is not a number
	time    time.Duration
	timed   bool // it has a :time
	indexed bool // it has an :index
	index   int64
	value   any
	err     any
	more    []ednPair // all other fields
	seen    uint8     // a bit for each field that was set
	space   bool      // it has a key in the namespace zkverify
}

// nemesisName is the process of the nemesis.
const nemesisName = "nemesis"

func (o *jepsenOp) isNemesis() bool { return o.word == nemesisName }

// clear removes all fields.
func (o *jepsenOp) clear() { *o = jepsenOp{more: o.more[:0]} }

// set sets the field with the given key.
func (o *jepsenOp) set(name string, v any) error {
	bit := uint8(0)
	switch name {
	case "type":
		bit, o.kind = 1, word(v)
	case "f":
		bit, o.f = 2, word(v)
	case "value":
		bit, o.value = 4, v
	case "error":
		bit, o.err = 8, v
	case "process":
		bit = 16
		if err := o.setProcess(v); err != nil {
			return err
		}
	case "time":
		bit = 32
		at, is := whole(v)
		if o.timed = v != nil; o.timed && !is {
			return fmt.Errorf("the time of an operation is an integer of 64 bits, not %s", kindOf(v))
		}
		o.time = time.Duration(at)
	case "index":
		bit = 64
		if o.index, o.indexed = whole(v); !o.indexed && v != nil {
			return fmt.Errorf("the index of an operation is an integer, not %s", kindOf(v))
		}
	default:
		for _, p := range o.more {
			if p.key == keyword(name) {
				return fmt.Errorf("an operation has the key :%.40s twice", name)
			}
		}
		o.more = append(o.more, ednPair{keyword(name), v})
		o.space = o.space || strings.HasPrefix(name, ednSpace)
	}
	if o.seen&bit != 0 {
		return fmt.Errorf("an operation has the key :%s twice", name)
	}
	o.seen |= bit
	return nil
}

// setProcess sets the process: a number, a name, or the nemesis.
func (o *jepsenOp) setProcess(v any) error {
	n, is := whole(v)
	name, _ := v.(string)
	switch {
	case is:
		o.process = n
	case v == keyword(nemesisName):
		o.word = nemesisName
	case name != "":
		o.word = name
	default:
		return fmt.Errorf("the process of an operation is a number or a name, not %s", kindOf(v))
	}
	return nil
}

// complete returns an error if a required field of an operation is missing.
func (o *jepsenOp) complete() error {
	switch {
	case o.space:
		return nil // the validator checks the event
	case o.isNemesis() && o.f == "":
		return errors.New("a nemesis operation has no :f")
	case o.seen&16 == 0:
		return missingOf("process")
	case o.kind == "":
		return missingOf("type")
	}
	return nil
}

func missingOf(field string) error {
	return fmt.Errorf("required field :%s of an operation is missing", field)
}

// field returns the field of an operation with the given key.
func (o *jepsenOp) field(name string) (any, bool) {
	if name == "value" {
		return o.value, o.seen&4 != 0
	}
	for _, p := range o.more {
		if p.key == keyword(name) {
			return p.value, true
		}
	}
	return nil, false
}

// fields returns all fields of an operation, for an event that has keys of zkverify.
func (o *jepsenOp) fields() map[string]any {
	all := map[string]any{"type": o.kind, "f": o.f, "value": o.value, "error": o.err, "time": int64(o.time), "process": o.process}
	if o.word != "" {
		all["process"] = o.word
	}
	if o.seen&16 == 0 {
		delete(all, "process")
	}
	for _, p := range o.more {
		all[string(p.key.(keyword))] = p.value
	}
	return all
}

// operations reads the operations of a file one by one. The operation is filled anew each time; it
// is nil after the last one.
type operations func() (*jepsenOp, error)

// inMemory reads all operations. If each has an index, it sorts them by index.
func (next operations) inMemory() ([]*jepsenOp, error) {
	var ops []*jepsenOp
	for {
		o, err := next()
		if err != nil {
			return nil, err
		}
		if o == nil {
			break
		}
		kept := *o
		kept.more = slices.Clone(o.more)
		ops = append(ops, &kept)
	}
	if slices.ContainsFunc(ops, func(o *jepsenOp) bool { return !o.indexed }) {
		return ops, nil
	}
	slices.SortStableFunc(ops, func(a, b *jepsenOp) int { return cmp.Compare(a.index, b.index) })
	for i := 1; i < len(ops); i++ {
		if a, b := ops[i-1], ops[i]; a.index == b.index {
			return nil, &FormatError{Line: b.line, Reason: fmt.Sprintf("index %d is that of line %d, too", b.index, a.line)}
		}
	}
	return ops, nil
}

// listed returns operations that are in memory, one by one.
func listed(ops []*jepsenOp) operations {
	i := 0
	return func() (*jepsenOp, error) {
		if i == len(ops) {
			return nil, nil
		}
		i++
		return ops[i-1], nil
	}
}

// order notes whether operations are in the order of their index.
type order struct {
	begun, broken, bare bool
	last                int64
}

func (r *order) add(o *jepsenOp) {
	r.bare = r.bare || !o.indexed
	r.broken = r.broken || r.begun && o.index <= r.last
	r.begun, r.last = true, o.index
}

// inOrder reports whether the operations may be read in the order of the file.
func (r *order) inOrder() bool { return r.bare || !r.broken }

// told returns the error of an operation as text.
func told(v any) string {
	if n, is := v.(*big.Rat); is {
		return n.String()
	}
	return fmt.Sprint(v)
}
