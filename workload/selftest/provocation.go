package selftest

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload"
	"github.com/zkverify/zkverify/workload/mutants"
)

// Provocation is a run that brings certain bugs to light.
type Provocation struct {
	Name string // short, for file names and --only
	What string // one line: what happens in it
	// Config is the run, without Ensemble, Network, Target, Recorder, Seed and
	// SessionTimeout. Of Workers it has the number alone.
	// Faults that strike are in its Schedule.
	Config workload.Config
	// Mutants are the names of the targets that it must show to be bad:
	// mutants, or locks that are known to be.
	Mutants []string
}

// Provocations returns all of them.
func Provocations() []Provocation {
	return slices.Concat(
		mutexProvocations(),
		nonReentrantProvocations(),
		readWriteProvocations(),
		queueProvocations(),
		multiLockProvocations(),
		permitProvocations(),
		revocationProvocations(),
		barrierProvocations(),
		householdProvocations(),
		handoffProvocations(),
		deletionProvocations(),
		momentProvocations(),
		extremeProvocations(),
		pauseProvocations(),
	)
}

// knownBad are locks that are no mutants, and bad all the same.
var knownBad = []mutants.Defect{
	{
		Name: "zk-lock", Recipe: histories.Mutex, Bug: "the Go client's own lock, as it is",
		What:      "never hears that its session has ended",
		Guarantee: checker.MutualExclusion,
	},
	{
		Name: "naive", Recipe: histories.Mutex, Bug: "the textbook's first lock",
		What:      "one ephemeral node for all; its holder never hears that its session has ended",
		Guarantee: checker.MutualExclusion,
	},
}

// Known returns what is known of a target that is bad; ok is false for others.
func Known(target string) (d mutants.Defect, ok bool) {
	for _, d := range slices.Concat(mutants.Defects(), knownBad) {
		if d.Name == target {
			return d, true
		}
	}
	return d, false
}

func guaranteeFor(target string) string {
	d, _ := Known(target)
	return d.Guarantee
}

// Recipe returns what the provocation drives.
func (p Provocation) Recipe() histories.Recipe {
	if len(p.Config.Recipes) == 0 {
		return histories.Mutex
	}
	return p.Config.Recipes[0]
}

// Select returns the provocations of the mutants and provocations that only
// names, of the given recipes, each with no other mutants; empty lists mean all.
// The error says what can be named.
func Select(only []string, of []histories.Recipe) ([]Provocation, error) {
	left := make(map[string]bool)
	for _, name := range only {
		left[name] = true
	}
	var out []Provocation
	var known, provocations []string
	for _, p := range Provocations() {
		provocations = append(provocations, p.Name)
		known = append(append(known, p.Name), p.Mutants...)
		for _, name := range append([]string{p.Name}, p.Mutants...) {
			delete(left, name)
		}
		if len(of) > 0 && !slices.Contains(of, p.Recipe()) {
			continue
		}
		if whole := slices.Contains(only, p.Name); len(only) > 0 && !whole {
			p.Mutants = slices.DeleteFunc(slices.Clone(p.Mutants), func(m string) bool { return !slices.Contains(only, m) })
			if len(p.Mutants) == 0 {
				continue
			}
		}
		out = append(out, p)
	}
	for _, name := range only {
		if left[name] {
			return nil, words.Unknown("mutant or provocation", name, known, "zkverify list mutants names the mutants, the provocations are: "+strings.Join(provocations, ", "))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("no provocation of %s is named", of)
	}
	return out, nil
}

// aimed returns a schedule of one fault, every so often.
func aimed(kind string, aim fault.Aim, n int, every, length time.Duration) *nemesis.Schedule {
	return several(kind, aim, n, every/4, every, length)
}

// several is aimed from a time on.
func several(kind string, aim fault.Aim, n int, from, every, length time.Duration) *nemesis.Schedule {
	s := &nemesis.Schedule{}
	for i := range n {
		s.Steps = append(s.Steps, nemesis.Step{
			At: from + time.Duration(i)*every, For: length, Fault: kind, Pick: fault.Pick{Aim: aim, Draw: uint32(i)},
		})
	}
	return s
}

// steps returns one schedule of several.
func steps(all ...*nemesis.Schedule) *nemesis.Schedule {
	s := &nemesis.Schedule{}
	for _, other := range all {
		s.Steps = append(s.Steps, other.Steps...)
	}
	slices.SortStableFunc(s.Steps, func(a, b nemesis.Step) int { return cmp.Compare(a.At, b.At) })
	return s
}

// strike is a fault and whom it hits.
type strike struct {
	fault string
	aim   fault.Aim
}

// oneLink returns n of the given faults in turn, each on the one link that its
// client uses at that moment: the session goes on through another server.
func oneLink(length, every time.Duration, n int, strikes ...strike) *nemesis.Schedule {
	s := &nemesis.Schedule{}
	for i := range n {
		with := strikes[i%len(strikes)]
		s.Steps = append(s.Steps, nemesis.Step{
			At: every * time.Duration(i+1), For: length, Fault: with.fault,
			Pick: fault.Pick{Aim: with.aim, Draw: uint32(i), Links: fault.OneLink},
		})
	}
	return s
}

// calm is a schedule without faults.
func calm() *nemesis.Schedule { return &nemesis.Schedule{} }

// SessionTimeout is that of the clients: short, so that sessions end soon.
const SessionTimeout = time.Second

// slow are stubborn clients that hold on for long enough to be robbed.
func slow() workload.Mix {
	m := stubborn()
	m.Hold = 150 * time.Millisecond
	return m
}

// stubborn are patient clients that hold on when they are hit.
func stubborn() workload.Mix {
	return workload.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Long: -1, Ended: -1, Hold: 50 * time.Millisecond}
}
