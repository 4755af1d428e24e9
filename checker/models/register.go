package models

import (
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// registerState holds the values of one register, or of the registers that transactions use:
// names and values by turns, sorted by name. A register that is not in it may still have its
// first value, which need not be known.
type registerState string

const between = "\x00"

// step is one access to one register.
type step struct {
	histories.Access
	// start is set if the value may be the first value of the register: no operation that was
	// called before tried to write it.
	start bool
}

// registerInput is an operation. Equal operations share one.
type registerInput struct {
	steps []step
	text  string
}

// registers is the model of registers. A register whose first value is not known begins with
// nil or 0, as in tests of Jepsen, or with the value that is read before it is written.
type registers struct {
	begin func(register string) (value string, known bool)
}

// step returns the state after an operation, or false if the model does not allow the
// operation.
func (m registers) step(s registerState, in *registerInput) (registerState, bool) {
	values := strings.Split(string(s), between)
	if s == "" {
		values = nil
	}
	changed := false
	for i := range in.steps {
		a := &in.steps[i]
		at := slices.IndexFunc(everyOther(values), func(name string) bool { return name == a.Register })
		value, known := "", at >= 0
		if known {
			value = values[2*at+1]
		} else {
			value, known = m.begin(a.Register)
		}
		if a.Kind != histories.WriteAccess {
			fits := value == a.Value || a.Kind == histories.ReadAccess && !a.Known
			if !known {
				fits = fits || a.start || a.Value == "nil" || a.Value == "0"
			}
			if !fits {
				return s, false
			}
		}
		then := a.Value
		switch {
		case a.Kind == histories.CASAccess:
			then = a.New
		case a.Kind == histories.ReadAccess && (!a.Known || at >= 0):
			continue
		}
		if at >= 0 && values[2*at+1] == then {
			continue
		}
		changed = true
		if at >= 0 {
			values[2*at+1] = then
		} else {
			values = append(values, a.Register, then)
		}
	}
	if !changed {
		return s, true
	}
	return joined(values), true
}

// everyOther returns the names among names and values.
func everyOther(values []string) []string {
	names := make([]string, 0, 8)
	for i := 0; i < len(values); i += 2 {
		names = append(names, values[i])
	}
	return names
}

func joined(values []string) registerState {
	pairs := slices.Collect(slices.Chunk(values, 2))
	slices.SortFunc(pairs, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	return registerState(strings.Join(slices.Concat(pairs...), between))
}

// tell describes the state of registers.
func (m registers) tell(s registerState) string {
	if s == "" {
		return "nothing was written"
	}
	var all []string
	for pair := range slices.Chunk(strings.Split(string(s), between), 2) {
		if pair[0] == "" {
			return "the value is " + pair[1]
		}
		all = append(all, pair[0]+" is "+pair[1])
	}
	return strings.Join(all, " and ")
}

// tell describes an operation.
func (in *registerInput) tell() string { return in.text }

// reads reports whether an operation changes no value that is known.
func (in *registerInput) reads() bool {
	return !slices.ContainsFunc(in.steps, func(a step) bool {
		return a.Kind == histories.WriteAccess || a.Kind == histories.CASAccess && a.Value != a.New
	})
}
