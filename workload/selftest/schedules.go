package selftest

import (
	"cmp"
	"slices"
	"time"

	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/nemesis/fault"
	"github.com/zkverify/zkverify/workload/cycle"
)

// aimed returns a schedule of one fault, every so often.
func aimed(kind string, aim fault.Aim, n int, every, length time.Duration) *nemesis.Schedule {
	return several(kind, aim, n, every/4, every, length)
}

// several returns a schedule as aimed does, with the first fault at from.
func several(kind string, aim fault.Aim, n int, from, every, length time.Duration) *nemesis.Schedule {
	s := &nemesis.Schedule{}
	for i := range n {
		s.Steps = append(s.Steps, nemesis.Step{
			At: from + time.Duration(i)*every, For: length, Fault: kind, Pick: fault.Pick{Aim: aim, Draw: uint32(i)},
		})
	}
	return s
}

// with sets a parameter of every fault of a schedule.
func with(s *nemesis.Schedule, name, value string) *nemesis.Schedule {
	return withAll(s, map[string]string{name: value})
}

// withAll sets the parameters of every fault of a schedule.
func withAll(s *nemesis.Schedule, params map[string]string) *nemesis.Schedule {
	for i := range s.Steps {
		s.Steps[i].Pick.Params = params
	}
	return s
}

// steps joins several schedules to one.
func steps(all ...*nemesis.Schedule) *nemesis.Schedule {
	s := &nemesis.Schedule{}
	for _, other := range all {
		s.Steps = append(s.Steps, other.Steps...)
	}
	slices.SortStableFunc(s.Steps, func(a, b nemesis.Step) int { return cmp.Compare(a.At, b.At) })
	return s
}

// strike is a fault with its aim.
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

// SessionTimeout is the timeout of the clients: short, so that sessions end soon.
const SessionTimeout = time.Second

// longer is the session timeout of provocations in which a missed wake-up has to show: with it
// the slow look at the queue that makes up for a missed one comes well after the bound for a
// turn, which is 750 ms at least (lock.Settings.TurnBound).
const longer = 2 * time.Second

// slow returns stubborn clients that hold on for long enough to lose their locks.
func slow() cycle.Mix {
	m := stubborn()
	m.Hold = 150 * time.Millisecond
	return m
}

// stubborn returns patient clients that hold on when a fault hits them.
func stubborn() cycle.Mix {
	return cycle.Mix{HoldOn: 1, Try: -1, Timeout: -1, Cancel: -1, Crash: -1, Long: -1, Ended: -1, Hold: 50 * time.Millisecond}
}
