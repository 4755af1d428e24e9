package nemesis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// check returns an error if a step is invalid on every ensemble.
func (s Step) check(kinds fault.Kinds) error {
	kind, err := kinds.Named(s.Fault)
	if err != nil {
		return err
	}
	switch {
	case s.At < 0:
		return fmt.Errorf("at is %v: want a time since the faults begin, not before", s.At)
	case s.For < 0:
		return fmt.Errorf("for is %v: want no negative duration", s.For)
	}
	return kind.Allows(s.Pick)
}

// edge returns the step's parameters for the record of the fault's start, from which
// FromHistory restores the step.
func (s Step) edge() map[string]string {
	e := map[string]string{"for": s.For.String(), "draw": strconv.FormatUint(uint64(s.Pick.Draw), 10)}
	if s.Pick.Aim != "" {
		e["aim"] = string(s.Pick.Aim)
	}
	return e
}

// clash returns an error if two steps, a the earlier one, cannot both be carried out.
func clash(kinds fault.Kinds, a, b Step) error {
	ka, errA := kinds.Named(a.Fault)
	kb, errB := kinds.Named(b.Fault)
	if errA != nil || errB != nil || b.At >= a.At+max(a.For, time.Nanosecond) {
		return nil
	}
	switch {
	case ka.OfClocks() != kb.OfClocks(): // such faults do not hinder each other
		return nil
	case ka.OfClocks():
		return fmt.Errorf("%s begins while %s of %v is in force, and one fault of servers' clocks at a time is all there can be", b.Fault, a.Fault, a.At)
	case ka.OfServers() && kb.OfServers():
		return fmt.Errorf("%s begins while %s of %v is in force, and one fault of servers at a time is all there can be", b.Fault, a.Fault, a.At)
	case a.Pick.Aim == "" && b.Pick.Aim == "" && a.Pick.Client != nil && b.Pick.Client != nil && *a.Pick.Client == *b.Pick.Client:
		return fmt.Errorf("%s hits client %d while %s of %v does", b.Fault, *b.Pick.Client, a.Fault, a.At)
	}
	return nil
}

// numbered returns the number in a target such as "client 3"; false for another target.
func numbered(target, what string) (int, bool) {
	text, ok := strings.CutPrefix(target, what+" ")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// Fits returns an error for the first step of a schedule that cannot be carried out on an
// ensemble with the given number of clients, where faults end after the given duration. A nil
// ensemble meets all needs. Kinds are the kinds that a step may name.
func (s Schedule) Fits(kinds fault.Kinds, e ensemble.Ensemble, clients int, duration time.Duration) error {
	for _, step := range s.Steps {
		kind, err := kinds.Named(step.Fault)
		if err != nil {
			return err
		}
		p := step.Pick
		switch n, notNumber := strconv.Atoi(string(p.Server)); {
		case e != nil && !kind.Needs.MetBy(e):
			return kind.NotOn(e)
		case step.At >= duration:
			return fmt.Errorf("%s of %v would begin after the faults have ended, at %v", step.Fault, step.At, duration)
		case p.Client != nil && *p.Client >= clients:
			return fmt.Errorf("%s of %v hits client %d, and there are %d, from 0", step.Fault, step.At, *p.Client, clients)
		case e != nil && notNumber == nil && n > len(e.Servers()):
			return fmt.Errorf("%s of %v hits server %d of %d", step.Fault, step.At, n, len(e.Servers()))
		}
	}
	return nil
}

// Names returns the names of the faults of a schedule, each once, in the order of
// kinds.
func (s Schedule) Names(kinds fault.Kinds) (names []string) {
	for _, k := range kinds {
		if slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Fault == k.Name }) {
			names = append(names, k.Name)
		}
	}
	return names
}
