package histories

import (
	"fmt"
	"time"
)

// AccessKind is the kind of an access to a register.
type AccessKind string

// The kinds of accesses.
const (
	ReadAccess  AccessKind = "read"
	WriteAccess AccessKind = "write"
	CASAccess   AccessKind = "cas"
)

// Access is the access of an operation to one register. Values are the texts of EDN.
type Access struct {
	Kind     AccessKind
	Register string // of a transaction
	Value    string // the value that is read or written; for cas the expected one
	New      string // for cas: the new value
	Known    bool   // for a read: the value that was read is known
}

// Operation is one event of a history of registers.
type Operation struct {
	Line     int
	Time     time.Duration
	Process  int
	Type     Type
	Key      string
	F        string
	Accesses []Access // of a transaction in order; else one
}

// accesses returns the accesses of an operation.
func (r *Reading) accesses(o *jepsenOp) ([]Access, error) {
	v := r.valueOf(o)
	switch o.f {
	case "read":
		return []Access{{Kind: ReadAccess, Value: ednText(v), Known: v != nil && o.kind == string(OK)}}, nil
	case "write":
		return []Access{{Kind: WriteAccess, Value: ednText(v)}}, nil
	case "cas":
		pair, is := v.([]any)
		if !is || len(pair) != 2 {
			return nil, fmt.Errorf("the :value of a :cas is the value that is expected and the new one, not %.40s", ednText(v))
		}
		return []Access{{Kind: CASAccess, Value: ednText(pair[0]), New: ednText(pair[1])}}, nil
	}
	all, is := v.([]any)
	if !is {
		return nil, fmt.Errorf("the :value of a :txn is a vector of [f register value], not %.40s", ednText(v))
	}
	out := make([]Access, len(all))
	for i, a := range all {
		step, is := a.([]any)
		if !is || len(step) != 3 {
			return nil, fmt.Errorf("%.40s of a :txn is not [f register value]", ednText(a))
		}
		out[i] = Access{Register: keyText(step[1]), Value: ednText(step[2])}
		switch word(step[0]) {
		case "read", "r":
			out[i].Kind, out[i].Known = ReadAccess, step[2] != nil && o.kind == string(OK)
		case "write", "w":
			out[i].Kind = WriteAccess
		default:
			return nil, fmt.Errorf("%.40s of a :txn neither reads nor writes a register; Elle (github.com/jepsen-io/elle) judges other transactions", ednText(a))
		}
	}
	return out, nil
}

// Start returns the initial value of a register. It reports false if none was given: the file
// must show it.
func (r *Reading) Start(register string) (value string, known bool) {
	if r.Initial == "" {
		return "", false
	}
	if m, is := r.initial.(ednMap); is {
		for _, p := range m {
			if keyText(p.key) == register {
				return ednText(p.value), true
			}
		}
		return "nil", true
	}
	return ednText(r.initial), true
}
