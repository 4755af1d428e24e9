package links

import (
	"fmt"
	"time"
)

// condition is what a link does to data. The zero condition is a healthy link.
type condition struct {
	cut             Cut // "" for none
	latency, jitter time.Duration
}

// toxic is one effect on one of the two streams of a proxy's connections. Its
// JSON form is what Toxiproxy reads.
type toxic struct {
	Name       string           `json:"name"`
	Type       string           `json:"type"`
	Stream     string           `json:"stream"`   // "upstream" is towards the server
	Toxicity   float32          `json:"toxicity"` // 1: Toxiproxy's dice have no seed, so they are never rolled
	Attributes map[string]int64 `json:"attributes"`
}

// toxics returns what a running proxy needs to be in condition c. Down needs
// none: its proxy does not run.
//
// A black hole is the timeout toxic with timeout 0, which drops data and keeps
// connections open, and never a huge latency: data held back is kept, and taking
// such a latency off a connection hangs until all of it is delivered.
func (c condition) toxics() []toxic {
	drop := func(stream string) toxic {
		return toxic{Name: "drop-" + stream, Type: "timeout", Stream: stream, Toxicity: 1, Attributes: map[string]int64{"timeout": 0}}
	}
	slow := func(stream string) toxic {
		return toxic{Name: "slow-" + stream, Type: "latency", Stream: stream, Toxicity: 1, Attributes: map[string]int64{
			"latency": c.latency.Milliseconds(), "jitter": c.jitter.Milliseconds(),
		}}
	}
	switch c.cut {
	case BlackHole:
		return []toxic{drop("upstream"), drop("downstream")}
	case RequestsLost:
		return []toxic{drop("upstream")}
	case RepliesLost:
		return []toxic{drop("downstream")}
	}
	if c.latency > 0 {
		return []toxic{slow("upstream"), slow("downstream")}
	}
	return nil
}

// cutCondition checks that cut is one of the known ones.
func cutCondition(cut Cut) (condition, error) {
	switch cut {
	case Down, BlackHole, RequestsLost, RepliesLost:
		return condition{cut: cut}, nil
	}
	return condition{}, fmt.Errorf("unknown cut %q", cut)
}

// delayCondition checks and rounds a delay.
func delayCondition(latency, jitter time.Duration) (condition, error) {
	if latency < 0 || jitter < 0 || jitter > latency {
		return condition{}, fmt.Errorf("delay of %v with a jitter of %v: want 0 ≤ jitter ≤ latency", latency, jitter)
	}
	up := func(d time.Duration) time.Duration { return (d + time.Millisecond - 1).Truncate(time.Millisecond) }
	return condition{latency: up(latency), jitter: up(jitter)}, nil
}
