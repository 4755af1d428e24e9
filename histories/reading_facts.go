package histories

import (
	"fmt"
	"math"
	"strings"
)

// facts collects facts from all operations of a file.
type facts struct {
	*survey
	n       int             // operations so far
	did     map[string]bool // the :f of the nemesis's operations
	keys    map[string]bool // the names of locks or registers
	open    map[int]asked   // by process
	held    map[holding]int // the number of holds; -1: perhaps one
	unclear map[string]bool // locks of which it is not known whether they are held
	most    int64           // the greatest number of a process
	told    map[int]string  // the owner of each process; "" if it has several
	twice   int             // the first line on which an owner acquires a lock that it holds; 0: none
	others  int             // the first line on which a process releases a lock that it does not hold
	fences  int             // the first line with a fence
	ints    int             // the first line on which an acquire returns an integer
	ops     map[string]bool // the :f of register operations
	first   int             // the first line with one
	wrote   map[string]bool // the kinds of values that were written
	saw     map[string]int  // the kinds of values that were read, each with its first line
}

// asked is an open operation.
type asked struct {
	n   int
	key string
}

type holding struct{ owner, key string }

func (f *facts) begin(s *survey) {
	*f = facts{
		survey: s, did: map[string]bool{}, keys: map[string]bool{}, open: map[int]asked{}, held: map[holding]int{}, unclear: map[string]bool{}, most: -1,
		told: map[int]string{}, ops: map[string]bool{}, wrote: map[string]bool{}, saw: map[string]int{},
	}
}

// add adds the facts of the next operation.
func (f *facts) add(o *jepsenOp) error {
	f.n++
	if o.isNemesis() {
		if len(f.did) < maxShared {
			f.did[o.f] = true
		}
		return nil
	}
	r := f.reading
	if !r.counts(o) {
		return nil
	}
	if err := o.complete(); err != nil {
		return err
	}
	is, err := r.kindOf(o)
	if err != nil {
		return err
	}
	if (is == "register") != r.register {
		return fmt.Errorf(":%s is an operation of a %s, and those before are of a %s: leave either out by --ignore", o.f, is, r.noun())
	}
	process := r.number(o, &f.most)
	key := f.open[process].key
	if name, ok, err := r.keyOf(o); err != nil {
		return err
	} else if ok {
		key = name
	}
	if o.kind == string(Invoke) {
		f.open[process] = asked{f.n, key}
	}
	if !f.keys[key] {
		f.keys[key] = true
	}
	if r.register {
		return f.registerOp(o)
	}
	f.lockOp(o, process, key)
	return nil
}

// number returns the number of a process. A process with a name gets a number.
func (r *Reading) number(o *jepsenOp, most *int64) int {
	if o.word == "" {
		*most = max(*most, o.process)
		return int(min(max(o.process, -2), math.MaxInt32+1))
	}
	n, known := r.numbers[o.word]
	if !known {
		n = len(r.numbers)
		r.numbers[strings.Clone(o.word)] = n
	}
	return -3 - n // until all processes are known
}

// keyOf returns the name of the lock or the register. It reports false if the operation does not
// give it: an answer need not.
func (r *Reading) keyOf(o *jepsenOp) (string, bool, error) {
	var v any
	ok := true
	switch r.Key {
	case keyNone:
		if r.register || r.ids || o.kind != string(Invoke) || empty(o.value) || innerMap(o.value) || r.permits() || r.keyGiven {
			return "lock", true, nil
		}
		return "", false, fmt.Errorf(":value %.40s of :%s may name the lock: say by --key value that it does, or by --key none that it does not", ednText(o.value), o.f)
	case keyTuple:
		if v, _, ok = pairOf(o.value); !ok && (o.kind == string(Invoke) || o.value != nil) {
			return "", false, fmt.Errorf(":value %.40s of :%s is no tuple of a key and a value", ednText(o.value), o.f)
		}
	case keyValue:
		v, ok = o.value, !empty(o.value)
	default:
		v, ok = fieldOf(o, r.Key)
		ok = ok && v != nil
	}
	if !ok && o.kind == string(Invoke) {
		return "", false, fmt.Errorf(":%s has no :%s, which names the %s: say by --key which field does", o.f, r.Key, r.noun())
	}
	if !ok {
		return "", false, nil
	}
	return keyText(v), true, nil
}

func (r *Reading) permits() bool { return len(r.Models) > 0 && r.Models[0].Permits }

// valueOf returns the value of an operation without the key of a tuple.
func (r *Reading) valueOf(o *jepsenOp) any {
	if r.Key == keyTuple {
		_, inner, _ := pairOf(o.value)
		return inner
	}
	return o.value
}

// ownerOf returns the owner that an operation names; "" if it names none.
func (r *Reading) ownerOf(o *jepsenOp) string {
	if v, ok := fieldOf(o, "owner"); ok && v != nil {
		return keyText(v)
	}
	if v, ok := innerField(o.value, "client"); ok && v != nil {
		return keyText(v)
	}
	return ""
}

// fenceOf returns the fence that an acquire has returned, 0 if there is none, and whether the
// operation names it "fence".
func (r *Reading) fenceOf(o *jepsenOp) (fence int64, named bool) {
	v, named := fieldOf(o, "fence")
	if !named {
		v = r.valueOf(o)
		if r.Key == keyValue || r.permits() {
			return 0, false
		}
	}
	n, _ := whole(v)
	return max(n, 0), named
}

// lockOp follows which locks the processes hold.
func (f *facts) lockOp(o *jepsenOp, process int, key string) {
	r := f.reading
	owner := r.ownerOf(o)
	if owner != "" {
		r.clients = true
		if was, known := f.told[process]; known && was != owner {
			owner = "" // it has several
		}
		f.told[process] = owner
	}
	who := holding{fmt.Sprint(process), key}
	if o := r.ownerOf(o); o != "" {
		who.owner = "=" + o
	}
	kind, _ := r.answer(o)
	switch op := jepsenOps[o.f]; {
	case kind == Fail && op == Release && !f.as.notHeld(o):
		r.dropped[f.open[process].n] = true
	case kind == OK && op != Release:
		f.acquired(o, who)
	case kind == Info:
		f.held[who] = -1
		f.unclear[key] = true
	case kind == OK && f.held[who] == 0:
		if f.others == 0 && !(r.clients && f.unclear[key]) { // else the process may be the owner

			f.others = o.line
		}
	case kind == OK && f.held[who] > 1:
		f.held[who]--
	case kind == OK:
		delete(f.held, who)
	}
}

func (f *facts) acquired(o *jepsenOp, who holding) {
	if f.held[who] > 0 && f.twice == 0 {
		f.twice = o.line
	}
	f.held[who] = max(f.held[who], 0) + 1
	switch fence, named := f.reading.fenceOf(o); {
	case named && f.fences == 0:
		f.fences = o.line
	case fence > 0 && !named && f.ints == 0:
		f.ints = o.line
	}
}

// answer returns the type of an operation: an operation that is ok and returns false had no effect,
// so it is a fail. Refused is true if it is a try-acquire.
func (r *Reading) answer(o *jepsenOp) (kind Type, refused bool) {
	kind = Type(o.kind)
	if kind == OK && r.valueOf(o) == false {
		return Fail, jepsenOps[o.f] == TryAcquire
	}
	return kind, false
}

// notHeldWords occur in the errors by which services report that the caller does not hold a lock.
var notHeldWords = []string{"notheld", "notlocked", "notowner", "nottheowner", "notlockowner", "notowned", "notlockholder", "notholder", "notfound", "illegalmonitorstate", "currentthreadisnotowner", "unlocked"}

// notHeld reports whether a release has failed because its lock was not held.
func (a As) notHeld(o *jepsenOp) bool {
	if o.err == nil {
		return o.value == false || a.EveryRelease
	}
	text := strings.Map(func(c rune) rune {
		if strings.ContainsRune("-_ :", c) {
			return -1
		}
		return c
	}, strings.ToLower(told(o.err)))
	for _, w := range notHeldWords {
		if strings.Contains(text, w) {
			return true
		}
	}
	return false
}
