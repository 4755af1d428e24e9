package histories

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// As says how to read a file without a header of zkverify, where the file does not show it. Zero
// fields leave it to the file.
type As struct {
	Model string // a name of [Models]
	// Size is the number of permits of a semaphore, and how often the owner of a reentrant
	// mutex may hold it; 0 stands for any number, which a semaphore does not have.
	Size int
	// Key is the field that names the lock or the register, without its colon; "value",
	// "tuple" for the first element of a :value of two, or "none" if there is only one.
	Key     string
	Initial string   // EDN: the value of registers at the start, or a map of values by register
	Ignore  []string // operations that are left out, by their :f
	// EveryRelease says that every release that fails was answered "not held", unless its
	// :error gives another reason.
	EveryRelease bool
}

// Reading is what a file without a header of zkverify was taken for.
type Reading struct {
	// Models judge the history. It is violated if each of them is, and holds if each of them
	// does; else that is not known, as Open says.
	Models  []Model
	Open    string
	Size    int
	Key     string // as As has it
	Keys    int    // how many locks or registers there are
	Initial string // EDN; "" if it is left to the file

	initial   any
	ignore    map[string]bool
	ids       bool            // the :value of an invocation names nothing
	ended     map[string]bool // faults that an operation ends
	dropped   map[int]bool    // releases that had no effect, by the place of their invocations
	owners    map[int]string  // of each process, if it has one
	clients   bool            // owners are told
	numbers   map[string]int  // of processes that have names
	ordered   bool            // the operations stand in order
	register  bool
	spaced    bool // operations have keys of ours
	keyGiven  bool // by As
	firstName int  // the number of the first process that has a name
}

// String says in one line what the file was taken for.
func (r *Reading) String() string {
	names := make([]string, len(r.Models))
	for i, m := range r.Models {
		names[i] = m.Name
	}
	text := strings.Join(names, " or ")
	if len(r.Models) == 1 {
		text += " (" + r.Models[0].Summary + ")"
	}
	if r.Size > 0 {
		text += fmt.Sprintf(", size %d", r.Size)
	}
	noun := "lock"
	if r.register {
		noun = "register"
	}
	if text += fmt.Sprintf(", %d %s", r.Keys, noun); r.Keys != 1 {
		text += "s"
	}
	switch r.Key {
	case "none":
	case keyTuple:
		text += ", named by the first element of :value"
	default:
		text += ", named by :" + r.Key
	}
	if r.Initial != "" {
		text += ", which begin with " + r.Initial
	}
	if r.ignore != nil {
		text += ", without " + strings.Join(slices.Sorted(maps.Keys(r.ignore)), ", ")
	}
	return text
}

const (
	keyValue = "value"
	keyTuple = "tuple"
	keyNone  = "none"
)

// keyFields are those by which tests name a lock.
var keyFields = []string{"lock", "lock-name", "key", "resource"}

// jepsenOps are the names of operations.
var jepsenOps = map[string]Op{
	"acquire": Acquire, "lock": Acquire,
	"try-acquire": TryAcquire, "try-lock": TryAcquire, "trylock": TryAcquire, "tryLock": TryAcquire,
	"release": Release, "unlock": Release,
}

var registerOps = map[string]bool{"read": true, "write": true, "cas": true, "txn": true}

// reading is the file as the options alone say.
func (a As) reading() (*Reading, error) {
	r := &Reading{Key: strings.TrimPrefix(a.Key, ":"), Size: a.Size, Initial: a.Initial, dropped: map[int]bool{}, owners: map[int]string{}, numbers: map[string]int{}}
	if a.Model != "" {
		m, err := ModelNamed(a.Model)
		switch {
		case err != nil:
			return nil, err
		case m.Permits && a.Size == 0:
			return nil, fmt.Errorf("a %s needs --size, the number of its permits", m.Name)
		case a.Size != 0 && !m.Permits && !m.Reentrant:
			return nil, fmt.Errorf("a %s has no size", m.Name)
		}
		r.Models = []Model{m}
	}
	r.keyGiven = r.Key != ""
	if a.Initial != "" {
		v, err := newEDNReader(strings.NewReader("#initial " + a.Initial)).operation()
		t, is := v.(tagged)
		if err != nil || !is {
			return nil, fmt.Errorf("the value at the start, %.40q, is no EDN", a.Initial)
		}
		r.initial = t.value
	}
	for _, f := range a.Ignore {
		if r.ignore == nil {
			r.ignore = map[string]bool{}
		}
		r.ignore[strings.TrimPrefix(f, ":")] = true
	}
	return r, nil
}

// survey goes through the operations of a file, and finds out what it is.
type survey struct {
	as      As
	reading *Reading
	order   order
	decided bool
	prefix  []*jepsenOp
	facts   facts
}

// prefixed is how many operations of a file decide what it is. The others must agree.
const prefixed = 1000

// surveyed reads all operations.
func surveyed(next operations, as As) (*Reading, error) {
	r, err := as.reading()
	if err != nil {
		return nil, &FormatError{Reason: err.Error()}
	}
	s := &survey{as: as, reading: r}
	s.facts.begin(s)
	for {
		o, err := next()
		if err != nil {
			return nil, err
		}
		if o == nil {
			break
		}
		s.order.add(o)
		if o.space {
			r.spaced = true
			continue
		}
		if !s.decided {
			kept := *o
			kept.more = slices.Clone(o.more)
			s.prefix = append(s.prefix, &kept)
			if len(s.prefix) < prefixed {
				continue
			}
		}
		if err := s.take(o); err != nil {
			return nil, err
		}
	}
	if err := s.take(nil); err != nil {
		return nil, err
	}
	return r, s.conclude()
}

// take decides by the prefix what the file is, if that is open, and looks at an operation.
func (s *survey) take(o *jepsenOp) error {
	if s.decided {
		return s.look(o)
	}
	s.decided = true
	if err := s.decide(); err != nil {
		return err
	}
	for _, p := range s.prefix {
		if err := s.look(p); err != nil {
			return err
		}
	}
	s.prefix = nil
	return nil
}

func (s *survey) look(o *jepsenOp) error {
	if o == nil {
		return nil
	}
	if err := s.facts.add(o); err != nil {
		return &FormatError{Line: o.line, Reason: err.Error()}
	}
	return nil
}
