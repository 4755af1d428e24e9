package cluster

import (
	"math"
	"time"
)

// clock is a server's own clock: it may run at another rate than the cluster's time, and
// its wall clock may have been stepped. The zero clock is the cluster's time.
type clock struct {
	rate        float64       // 0 for 1
	since, base time.Duration // at since, by the cluster's time, base had passed for the server
	stepped     time.Duration // offset of the wall clock on top
}

// local returns the time that has passed for the server at an instant of the cluster.
func (k *clock) local(at time.Duration) time.Duration {
	if k.rate == 0 {
		return k.base + at - k.since
	}
	return k.base + time.Duration(float64(at-k.since)*k.rate)
}

// instant returns the cluster's instant at which so much time has passed for the server.
func (k *clock) instant(local time.Duration) time.Duration {
	if k.rate == 0 {
		if local > never-k.since {
			return never
		}
		return local - k.base + k.since
	}
	after := math.Ceil(float64(local-k.base) / k.rate)
	if after >= float64(never-k.since) {
		return never
	}
	at := k.since + time.Duration(after)
	for k.local(at) < local { // a product that was rounded
		at++
	}
	return at
}

// run sets the clock's rate from an instant on.
func (k *clock) run(at time.Duration, rate float64) {
	k.base, k.since = k.local(at), at
	k.rate = rate
	if rate == 1 {
		k.rate = 0
	}
}

// due returns the cluster's instant at which the server must be woken. It asks the server
// again only after an input, or a change of its clock's rate.
func (n *node) due() time.Duration {
	if !n.asked {
		n.dueAt, n.asked = n.clock.instant(n.server.Due()), true
	}
	return max(n.dueAt, n.lateUntil)
}

// SetClockRate sets the rate of a server's clock from now on, as a multiple of the
// cluster's time, more than 0. The rate stays when the server's process is started again.
func (c *Cluster) SetClockRate(id int, rate float64) {
	n := c.nodes[id]
	n.clock.run(c.now, rate)
	n.asked = false
}

// StepClock sets a server's wall clock forward, or back if d is negative. The server
// measures durations by another clock, which does not step.
func (c *Cluster) StepClock(id int, d time.Duration) {
	n := c.nodes[id]
	n.clock.stepped += d
	n.server.StepClock(n.clock.stepped)
}
