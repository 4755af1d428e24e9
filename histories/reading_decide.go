package histories

import (
	"fmt"
	"slices"
	"strings"
)

// at returns an error on the line of an operation.
func (o *jepsenOp) at(format string, args ...any) error {
	return &FormatError{Line: o.line, Reason: fmt.Sprintf(format, args...)}
}

// counts reports whether an operation is a client's and is not left out.
func (r *Reading) counts(o *jepsenOp) bool { return !o.space && !o.isNemesis() && !r.ignore[o.f] }

// decide finds from the operations of the prefix the kind of the file, and the field that names
// its locks.
func (s *survey) decide() error {
	r := s.reading
	var ops []*jepsenOp
	for _, o := range s.prefix {
		if r.counts(o) {
			ops = append(ops, o)
		}
	}
	kind := ""
	for _, o := range ops {
		if err := o.complete(); err != nil {
			return o.at("%v", err)
		}
		is, err := r.kindOf(o)
		if err != nil {
			return err
		}
		if kind != "" && is != kind {
			return o.at(":%s is an operation of a %s, and those before are of a %s: leave either out by --ignore", o.f, is, kind)
		}
		kind = is
	}
	r.register = kind == "register"
	if len(r.Models) > 0 && kind != "" && r.Models[0].Register != r.register {
		return ops[0].at(":%s is no operation of a %s", ops[0].f, r.Models[0].Name)
	}
	if r.Key != "" {
		return nil
	}
	return s.findKey(ops)
}

// kindOf returns "lock" or "register", the kind of object that an operation is on.
func (r *Reading) kindOf(o *jepsenOp) (string, error) {
	switch {
	case jepsenOps[o.f] != "":
		return "lock", nil
	case registerOps[o.f]:
		return "register", nil
	case o.f == "":
		return "", o.at("required field :f of an operation is missing")
	}
	return "", o.at("unknown op %.40q: no model has it; --ignore %s leaves such operations out", o.f, strings.Join(strings.Fields(o.f), ""))
}

// findKey finds the field that names the locks or registers.
func (s *survey) findKey(ops []*jepsenOp) error {
	r := s.reading
	for _, o := range ops {
		for _, name := range keyFields {
			v, _ := fieldOf(o, name)
			switch {
			case v == nil || name == r.Key:
			case r.Key != "":
				return o.at(":%s and :%s may both name the %s: say which by --key", r.Key, name, r.noun())
			default:
				r.Key = name
			}
		}
	}
	if r.Key != "" {
		return nil
	}
	if r.register {
		s.keyOfRegisters(ops)
		return nil
	}
	return s.keyOfLocks(ops)
}

func (r *Reading) noun() string {
	if r.register {
		return "register"
	}
	return "lock"
}

// fieldOf returns the field of an operation, or of the map in its value, under a key.
func fieldOf(o *jepsenOp, name string) (any, bool) {
	if v, ok := o.field(name); ok {
		return v, true
	}
	return innerField(o.value, name)
}

// innerField returns the field under a key of a value that is a map, or a tuple with a map.
func innerField(v any, name string) (any, bool) {
	if m, is := v.(ednMap); is {
		return m.either(name)
	}
	if _, inner, is := pairOf(v); is {
		if m, is := inner.(ednMap); is {
			return m.either(name)
		}
	}
	return nil, false
}

// keyOfRegisters sets the key to tuple if all values are tuples, else to none.
func (s *survey) keyOfRegisters(ops []*jepsenOp) {
	r := s.reading
	r.Key = keyNone
	for _, o := range ops {
		_, inner, is := pairOf(o.value)
		if o.f == "cas" && is {
			_, _, is = pairOf(inner)
		}
		if !is || o.f == "txn" {
			return
		}
	}
	if len(ops) > 0 {
		r.Key = keyTuple
	}
}

// keyOfLocks finds out whether the values of lock operations name the locks.
func (s *survey) keyOfLocks(ops []*jepsenOp) error {
	r := s.reading
	r.Key = keyNone
	first := slices.IndexFunc(ops, func(o *jepsenOp) bool { return o.kind == string(Invoke) && !empty(o.value) })
	if first < 0 {
		return nil
	}
	o := ops[first]
	_, inner, pair := pairOf(o.value)
	_, isMap := o.value.(ednMap)
	_, isNumber := whole(o.value)
	permits := len(r.Models) > 0 && r.Models[0].Permits
	switch {
	case pair && (empty(inner) || innerMap(inner)):
		r.Key = keyTuple
	case isMap, permits && isNumber:
	case isNumber:
		return o.at(":value %s of :%s may name the lock, or be a number of permits: say which by --key value, --key none or --model semaphore", ednText(o.value), o.f)
	case r.ownersInAnswers(ops):
		r.ids = true
	default:
		return s.keyInValue(ops, o)
	}
	return nil
}

func innerMap(v any) bool { _, is := v.(ednMap); return is }

// empty reports whether a value is nil or a truth value, which names no lock.
func empty(v any) bool {
	_, truth := v.(bool)
	return v == nil || truth
}

// ownersInAnswers reports whether answers name the owner, as in the tests of Hazelcast. There the
// value of an invocation is an id of the operation.
func (r *Reading) ownersInAnswers(ops []*jepsenOp) bool {
	return slices.ContainsFunc(ops, func(o *jepsenOp) bool {
		_, told := innerField(o.value, "client")
		return told && o.kind == string(OK)
	})
}

// keyInValue takes the values for names of locks if each released value was acquired before, and
// answers have the value of their invocation.
func (s *survey) keyInValue(ops []*jepsenOp, first *jepsenOp) error {
	const choose = "say by --key value that it names the lock, or by --key none that it does not"
	acquired := map[string]bool{}
	open := map[string]string{}
	for _, o := range ops {
		text, who := ednText(o.value), o.who()
		switch {
		case o.kind == string(Invoke) && empty(o.value):
			return o.at(":%s has no :value, and that of line %d may name its lock: %s", o.f, first.line, choose)
		case o.kind == string(Invoke) && jepsenOps[o.f] == Release && !acquired[text]:
			return o.at(":value %.40s of :%s names no lock that was acquired before: %s", text, o.f, choose)
		case o.kind == string(OK) && !empty(o.value) && open[who] != text:
			return o.at(":value %.40s of :%s is not that of its invocation, which may name the lock: %s", text, o.f, choose)
		case o.kind == string(Invoke):
			acquired[text] = true
		}
		if o.kind == string(Invoke) {
			open[who] = text
		}
	}
	s.reading.Key = keyValue
	return nil
}

// who returns the name of the process of an operation.
func (o *jepsenOp) who() string {
	if o.word != "" {
		return o.word
	}
	return fmt.Sprint(o.process)
}
