package main

import (
	"fmt"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/workload/cycle"
)

// mixFlags are the flags of a cycle.Mix.
type mixFlags struct {
	Hold     time.Duration `rare:"" default:"2ms" help:"Mean time that a lock is held."`
	Patience time.Duration `rare:"" default:"100ms" help:"Longest timeout, or time to a cancellation, of an acquire."`
	Try      float64       `rare:"" default:"0.15" help:"Share of acquires that only try."`
	Timeout  float64       `rare:"" default:"0.25" help:"Share of acquires with a timeout."`
	Cancel   float64       `rare:"" default:"0.1" help:"Share of acquires cancelled in mid-wait."`
	Reenter  float64       `rare:"" default:"0.1" help:"Share of holds that re-enter."`
	Long     float64       `rare:"" default:"0.0005" help:"Share of holds as long as a session timeout."`
	HoldOn   float64       `rare:"" default:"0.7" help:"Share of holds that go on for long when a fault hits them."`
	Crash    float64       `rare:"" default:"0.0007" help:"Share of holds that end in a crash."`
	Race     float64       `rare:"" default:"0.2" help:"Share of increments that pause in the middle."`
	Guarded  float64       `rare:"" default:"0.1" help:"Share of holds that write to ZooKeeper too, in a transaction with a look at the lock."`
	Options  float64       `rare:"" default:"0.2" help:"Share of clients that take an option of the lock, of each that it has. Clients in worker processes take none."`
}

// share is a flag whose value is a share of the clients' operations.
type share struct {
	flag  string
	value float64
	sets  *float64
}

// shares pairs each share with the field of mix that it sets.
func (m mixFlags) shares(mix *cycle.Mix) []share {
	return []share{
		{"try", m.Try, &mix.Try}, {"timeout", m.Timeout, &mix.Timeout}, {"cancel", m.Cancel, &mix.Cancel},
		{"reenter", m.Reenter, &mix.Reenter}, {"long", m.Long, &mix.Long}, {"hold-on", m.HoldOn, &mix.HoldOn},
		{"crash", m.Crash, &mix.Crash}, {"race", m.Race, &mix.Race}, {"guarded", m.Guarded, &mix.Guarded},
		{"options", m.Options, &mix.Options},
	}
}

// span is a flag whose value is a duration.
type span struct {
	flag  string
	value time.Duration
	sets  *time.Duration
}

func (m mixFlags) spans(mix *cycle.Mix) []span {
	return []span{{"hold", m.Hold, &mix.Hold}, {"patience", m.Patience, &mix.Patience}}
}

// mix returns the mix that the flags describe.
func (m mixFlags) mix() (mix cycle.Mix) {
	for _, s := range m.spans(&mix) {
		*s.sets = s.value
	}
	for _, s := range m.shares(&mix) {
		if *s.sets = s.value; s.value == 0 {
			*s.sets = -1 // in a cycle.Mix, the zero value means the default
		}
	}
	return mix
}

// options adds the flags to o by name, for the history's header.
func (m mixFlags) options(o map[string]string) {
	var unused cycle.Mix
	for _, s := range m.spans(&unused) {
		o[s.flag] = s.value.String()
	}
	for _, s := range m.shares(&unused) {
		o[s.flag] = strconv.FormatFloat(s.value, 'g', -1, 64)
	}
}

func (m mixFlags) validate() error {
	var unused cycle.Mix
	for _, s := range m.spans(&unused) {
		if s.value <= 0 {
			return fmt.Errorf("--%s must be positive, not %v", s.flag, s.value)
		}
	}
	together := share{flag: "try, --timeout and --cancel together", value: m.Try + m.Timeout + m.Cancel}
	for _, s := range append(m.shares(&unused), together) {
		if s.value < 0 || s.value > 1+1e-9 {
			return fmt.Errorf("--%s must lie between 0 and 1, not at %v", s.flag, s.value)
		}
	}
	return nil
}
