package cycle

import (
	"math/rand/v2"
	"time"
)

// Way is the way in which a client acquires.
type Way int

const (
	Wait    Way = iota // waits for as long as it takes
	Try                // only tries
	Timeout            // waits up to a timeout
	Cancel             // is cancelled in mid-wait
)

// Plan holds everything that a client decides before it begins a cycle: one acquire to one
// release.
type Plan struct {
	Lock     int
	Way      Way
	Patience time.Duration
	Hold     time.Duration
	HoldOn   time.Duration // 0: a fault does not impress it
	Depth    int
	Crash    bool
	Doom     time.Duration // after so long it crashes in the middle of its activity; 0: never
	Race     time.Duration // between read and write
	Guarded  bool          // increments a counter in ZooKeeper
	Part     float64       // which, under several locks: 0 is the first one's, 1 would be beyond the last
	Rest     time.Duration // before it begins; longer after a failure
	Hasty    bool          // it releases with a context that has ended
	Hurried  bool          // it does so if its link is down
	Late     bool          // it acquires with one

	More *rand.Rand // decides the choices of the recipe; not drawn by Draw
}

// Draw decides the next cycle. It draws the same number of values each time,
// so that a client's choices are a function of the seed and the count of its
// cycles alone.
func (m Mix) Draw(r *rand.Rand, locks, home int, sessionTimeout time.Duration) Plan {
	c := Plan{Lock: home % locks, Depth: 1}
	which, elsewhere, other := r.Float64(), r.Float64(), r.IntN(locks)
	patience, hold, long, longFor := r.Float64(), r.ExpFloat64(), r.Float64(), r.Float64()
	on, onFor, deep, deeper := r.Float64(), r.Float64(), r.Float64(), r.IntN(2)
	crash, race, raceFor, rest, guarded := r.Float64(), r.Float64(), r.Float64(), r.Float64(), r.Float64()

	switch {
	case which < m.Try:
		c.Way = Try
	case which < m.Try+m.Timeout:
		c.Way = Timeout
	case which < m.Try+m.Timeout+m.Cancel:
		c.Way = Cancel
	}
	// A client that waits for ever does so mostly at home. Otherwise one lock whose
	// holder is cut off soon has every client waiting for it, and nothing
	// happens on the others.
	if abroad := 0.5; elsewhere < abroad && (c.Way != Wait || elsewhere < abroad/10) {
		c.Lock = other
	}
	c.Patience = time.Millisecond + time.Duration(patience*patience*float64(m.Patience))
	c.Hold = time.Duration(min(hold, 10) * float64(m.Hold))
	if long < m.Long {
		c.Hold = time.Duration((0.5 + longFor) * float64(sessionTimeout))
	}
	if on < m.HoldOn {
		c.HoldOn = time.Duration((1 + 1.5*onFor) * float64(sessionTimeout))
	}
	if deep < m.Reenter {
		c.Depth = 2 + deeper
	}
	c.Crash = crash < m.Crash
	if guarded < m.Guarded {
		c.Guarded, c.Part = true, guarded/m.Guarded
	}
	if race < m.Race {
		c.Race = time.Duration(raceFor * float64(m.Hold))
	}
	c.Rest = time.Duration(rest * float64(m.Rest))
	return c
}
