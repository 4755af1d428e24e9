package histories

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// As holds the options for reading a file without a zkverify header. A zero field leaves the
// choice to the contents of the file.
type As struct {
	Model string // a name of [Models]
	// Size is the number of permits of a semaphore, or how often the owner of a reentrant
	// mutex may hold it. 0 stands for any number of holds; a semaphore needs a number.
	Size int
	// Key is the field that names the lock or the register, without its colon; "value" for
	// :value, "tuple" for the first element of a :value of two, or "none" if there is only
	// one lock or register.
	Key     string
	Initial string   // EDN: the value of registers at the start, or a map of values by register
	Ignore  []string // operations that are left out, by their :f
	// EveryRelease makes every release that fails count as answered "not held", unless its
	// :error gives another reason.
	EveryRelease bool
}

// Reading is the interpretation of a file without a zkverify header: its models, and the field
// that names its locks or registers.
type Reading struct {
	// Models are the models by which the history is judged. It is violated if it violates
	// each of them, and holds if it satisfies each of them. Otherwise the result is open, and
	// Open gives the reason.
	Models  []Model
	Open    string
	Size    int
	Key     string // as in As
	Keys    int    // the number of locks or registers
	Initial string // EDN; "" if none was given

	initial   any
	ignore    map[string]bool
	ids       bool            // the :value of an invocation is an id of the operation
	ended     map[string]bool // faults that an operation ends
	dropped   map[int]bool    // releases that had no effect, by the index of the invocation
	owners    map[int]string  // of each process, if it has one
	clients   bool            // the file names owners
	numbers   map[string]int  // of processes that have names
	ordered   bool            // the operations are in order
	register  bool
	spaced    bool // operations have keys in the namespace zkverify
	keyGiven  bool // Key was set by As
	firstName int  // the number of the first process that has a name
}

// String describes the reading in one line.
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
	switch {
	case r.Initial != "":
		text += ", which begin with " + r.Initial
	case r.register:
		text += ", which begin with nil, 0, or a value read before an operation tries to write it (--initial sets that)"
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

// keyFields are the fields by which tests name a lock.
var keyFields = []string{"lock", "lock-name", "key", "resource"}

// jepsenOps maps the values of :f to operations on locks.
var jepsenOps = map[string]Op{
	"acquire": Acquire, "lock": Acquire,
	"try-acquire": TryAcquire, "try-lock": TryAcquire, "trylock": TryAcquire, "tryLock": TryAcquire,
	"release": Release, "unlock": Release,
}

var registerOps = map[string]bool{"read": true, "write": true, "cas": true, "txn": true}

// reading returns the Reading that follows from the options alone.
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

// survey goes through the operations of a file, and finds its Reading.
type survey struct {
	as      As
	reading *Reading
	order   order
	decided bool
	prefix  []*jepsenOp
	facts   facts
}

// prefixed is the number of operations at the beginning of a file that decide its kind. The others
// must agree.
const prefixed = 1000

// surveyed reads all operations, and returns the Reading of the file.
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

// take decides the kind of the file by the prefix, unless that is done, and looks at an operation.
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
