package histories

import (
	"cmp"
	"fmt"
	"strings"
)

// registerOp notes the kinds of values that an operation of a register writes and reads.
func (f *facts) registerOp(o *jepsenOp) error {
	f.ops[o.f] = true
	f.first = cmp.Or(f.first, o.line)
	accesses, err := f.reading.accesses(o)
	if err != nil {
		return err
	}
	for i := range accesses {
		a := &accesses[i]
		if a.Kind != ReadAccess && o.kind == string(Invoke) {
			f.wrote[kindOfText(a.Value)] = true
		}
		if k := kindOfText(a.Value); a.Kind == ReadAccess && o.kind == string(OK) && a.Known && a.Value != "nil" && f.saw[k] == 0 {
			f.saw[k] = o.line
		}
	}
	return nil
}

// kindOfText returns the kind of the value with this text.
func kindOfText(text string) string {
	switch c := text[0]; {
	case c == '[' || c == '{' || c == '#':
		return "collection"
	case c == '"':
		return "string"
	case c == ':':
		return "keyword"
	case isDigit(c) || c == '-' && len(text) > 1:
		return "number"
	}
	return "word"
}

// conclude completes the reading: it chooses the models by which the file is judged.
func (s *survey) conclude() error {
	r, f := s.reading, &s.facts
	r.ended, r.Keys, r.ordered = ended(f.did), len(f.keys), s.order.inOrder()
	r.firstName = int(f.most + 1)
	for process, owner := range f.told {
		if process <= -3 {
			process = r.firstName - 3 - process
		}
		r.owners[process] = owner
	}
	switch {
	case r.spaced && r.register:
		return &FormatError{Line: f.first, Reason: "an operation of a register, and other lines are events of zkverify: one file cannot have both"}
	case r.spaced:
		r.Models = nil // the events of zkverify need no model
	case r.register:
		return s.registerModel()
	case len(r.Models) == 0:
		s.lockModels()
	}
	return nil
}

func (s *survey) registerModel() error {
	r, f := s.reading, &s.facts
	if len(f.wrote) > 0 {
		for k, line := range f.saw {
			if !f.wrote[k] {
				return &FormatError{Line: line, Reason: fmt.Sprintf("a %s is read, and no %s is written: the values of these registers are not understood", k, k)}
			}
		}
	}
	name := ModelRegister
	switch {
	case f.ops["txn"]:
		name = ModelMultiRegister
	case f.ops["cas"]:
		name = ModelCASRegister
	}
	if len(r.Models) > 0 {
		if got := r.Models[0].Name; (got == ModelMultiRegister) != (name == ModelMultiRegister) || got == ModelRegister && name != got {
			return &FormatError{Reason: fmt.Sprintf("the file has the operations of a %s, not of a %s", name, got)}
		}
		return nil
	}
	m, err := ModelNamed(name)
	r.Models = []Model{m}
	return err
}

// lockModels chooses the models that the operations of locks may follow.
func (s *survey) lockModels() {
	r, f := s.reading, &s.facts
	var names, why []string
	owner, reentrant := ModelOwnerMutex, ModelReentrantMutex
	if f.fences > 0 {
		owner, reentrant = ModelFencedMutex, ModelReentrantFenced
	}
	names = []string{owner}
	if f.twice > 0 {
		names = append(names, reentrant)
		why = append(why, fmt.Sprintf("line %d acquires a lock that its owner holds already", f.twice))
	}
	if f.others > 0 {
		names = append(names, ModelMutex)
		why = append(why, fmt.Sprintf("line %d releases a lock that its process does not hold", f.others))
	}
	if f.ints > 0 && f.fences == 0 {
		names = append(names, ModelFencedMutex)
		why = append(why, fmt.Sprintf("the value that line %d returns may be a fence", f.ints))
	}
	for _, name := range names {
		m, err := ModelNamed(name)
		if err != nil {
			panic(err) // a name of the table
		}
		r.Models = append(r.Models, m)
	}
	if len(names) > 1 {
		r.Open = strings.Join(why, "; ") + ": say what it is by --model " + strings.Join(names, " or --model ")
	}
}
