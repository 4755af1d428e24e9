// Package cycle plans what a client does from one acquire to one release, by shares and a seed.
package cycle

import (
	"time"
)

// Mix holds the shares and times of what clients do. The zero value of a field means its
// default; a negative share means none.
type Mix struct {
	// Shares of the ways to acquire; what is left of 1 waits for ever.
	Try     float64 // only tries; default 0.15
	Timeout float64 // waits up to a timeout; default 0.25
	Cancel  float64 // is cancelled in mid-wait; default 0.10

	// Patience is the longest timeout, and the longest time to a
	// cancellation. Default 100 ms.
	Patience time.Duration

	// Hold is the mean time that a lock is held. Default 2 ms.
	Hold time.Duration
	// Long is the share of holds that last about a session timeout; default
	// 0.0005.
	Long float64
	// Rest is the longest rest before a cycle. Default 1 ms.
	Rest time.Duration
	// HoldOn is the share of holds that, hit by a fault, go on for one to two
	// and a half session timeouts: long enough for the session to end under
	// them. Default 0.7.
	HoldOn float64

	Reenter float64 // share of holds that re-enter, one or two levels deep; default 0.1
	Crash   float64 // share of holds that end in a crash, and of cycles that one cuts short; default 0.0007
	Race    float64 // share of increments that pause between read and write; default 0.2

	// Ended is the share of acquires, and of releases, whose context has ended before they
	// begin: such an acquire must get nothing, such a release must be carried out. Default
	// 0.01.
	Ended float64

	// Guarded is the share of holds that also increment a counter in ZooKeeper, in a
	// transaction that checks that the lock is held; default 0.1.
	Guarded float64

	// Options is the share of the clients that use an option of the target, for each option
	// that it has; default none.
	Options float64

	// Apart is the share of runs in which the members of a double barrier come and go without
	// agreeing on rounds, which only the log of servers in memory can judge; default none.
	Apart float64

	// For a read/write lock: the share of acquires that write, and the share of holds that ask
	// for the other mode too. Defaults 0.5 and 0.3.
	Write float64
	Cross float64
}

// WithDefaults returns the mix with its defaults filled in.
func (m Mix) WithDefaults() Mix {
	share := func(v *float64, d float64) {
		switch {
		case *v == 0:
			*v = d
		case *v < 0:
			*v = 0
		}
	}
	share(&m.Try, 0.15)
	share(&m.Timeout, 0.25)
	share(&m.Cancel, 0.10)
	share(&m.Long, 0.0005)
	share(&m.HoldOn, 0.7)
	share(&m.Reenter, 0.1)
	share(&m.Crash, 0.0007)
	share(&m.Race, 0.2)
	share(&m.Ended, 0.01)
	share(&m.Guarded, 0.1)
	share(&m.Write, 0.5)
	share(&m.Cross, 0.3)
	if m.Patience <= 0 {
		m.Patience = 100 * time.Millisecond
	}
	if m.Hold <= 0 {
		m.Hold = 2 * time.Millisecond
	}
	if m.Rest <= 0 {
		m.Rest = time.Millisecond
	}
	return m
}
