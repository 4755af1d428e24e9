package cluster

import (
	"math"
	"time"
)

// clock is a server's own: it may run at another rate than the cluster's time, and its
// wall clock may have been stepped. The zero clock is the cluster's time.
type clock struct {
	rate        float64       // 0 for 1
	since, base time.Duration // at since, by the cluster, base had passed for the server
	stepped     time.Duration // by how much the wall clock is ahead besides
}

// local is how much time has passed for the server at an instant of the cluster.
func (k *clock) local(at time.Duration) time.Duration {
	if k.rate == 0 {
		return k.base + at - k.since
	}
	return k.base + time.Duration(float64(at-k.since)*k.rate)
}

// instant is when, by the cluster, so much time has passed for the server.
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

// run has the clock run at a rate from an instant on.
func (k *clock) run(at time.Duration, rate float64) {
	k.base, k.since = k.local(at), at
	k.rate = rate
	if rate == 1 {
		k.rate = 0
	}
}

// due is when the server wants to be woken, by the cluster. The server is asked again only
// after it has taken an input, or its clock has been set to another rate.
func (n *node) due() time.Duration {
	if !n.asked {
		n.dueAt, n.asked = n.clock.instant(n.server.Due()), true
	}
	return max(n.dueAt, n.lateUntil)
}

// SetClockRate has a server's clock run at so many times the rate of the cluster's time,
// more than 0, from now on. It goes on when the server's process is started again.
func (c *Cluster) SetClockRate(id int, rate float64) {
	n := c.nodes[id]
	n.clock.run(c.now, rate)
	n.asked = false
}

// StepClock sets a server's wall clock forward, or back if d is negative. Time that has
// passed is measured by another clock, which does not step.
func (c *Cluster) StepClock(id int, d time.Duration) {
	n := c.nodes[id]
	n.clock.stepped += d
	n.server.StepClock(n.clock.stepped)
}
