package links

import (
	"fmt"
	"time"
)

// condition is what a link does to data. The zero condition is a healthy link.
type condition struct {
	cut             Cut // "" for none
	left            int // bytes until the connection is truncated
	latency, jitter time.Duration
	oneWay          bool // the latency is of what the server says alone
	rate            int  // in kilobytes a second
	size            int  // of slices, in bytes
	pause           time.Duration
}

// truncated is the cut of Truncate.
const truncated Cut = "truncated"

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
	on := func(stream, name, kind string, attributes map[string]int64) toxic {
		return toxic{Name: name + "-" + stream, Type: kind, Stream: stream, Toxicity: 1, Attributes: attributes}
	}
	both := func(name, kind string, attributes map[string]int64) []toxic {
		return []toxic{on("upstream", name, kind, attributes), on("downstream", name, kind, attributes)}
	}
	drop := map[string]int64{"timeout": 0}
	switch {
	case c.cut == BlackHole:
		return both("drop", "timeout", drop)
	case c.cut == RequestsLost:
		return []toxic{on("upstream", "drop", "timeout", drop)}
	case c.cut == RepliesLost:
		return []toxic{on("downstream", "drop", "timeout", drop)}
	case c.cut == Reset:
		return []toxic{on("upstream", "reset", "reset_peer", map[string]int64{"timeout": 0})}
	case c.cut == truncated:
		return []toxic{on("downstream", "truncate", "limit_data", map[string]int64{"bytes": int64(c.left)})}
	case c.oneWay && c.latency > 0:
		return []toxic{on("downstream", "slow", "latency", map[string]int64{"latency": c.latency.Milliseconds()})}
	case c.latency > 0:
		return both("slow", "latency", map[string]int64{"latency": c.latency.Milliseconds(), "jitter": c.jitter.Milliseconds()})
	case c.rate > 0:
		return both("throttle", "bandwidth", map[string]int64{"rate": int64(c.rate)})
	case c.size > 0:
		return both("slice", "slicer", map[string]int64{
			"average_size": int64(c.size), "size_variation": int64(c.size / 2), "delay": c.pause.Microseconds(),
		})
	}
	return nil
}

// cutCondition checks that cut is one of the known ones.
func cutCondition(cut Cut) (condition, error) {
	switch cut {
	case Down, BlackHole, RequestsLost, RepliesLost, Reset:
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

// throttleCondition checks and rounds a rate.
func throttleCondition(bytesPerSecond int) (condition, error) {
	if bytesPerSecond <= 0 {
		return condition{}, fmt.Errorf("throttle to %d bytes a second: want more than 0", bytesPerSecond)
	}
	return condition{rate: (bytesPerSecond-1)/1000 + 1}, nil
}

// sliceCondition checks the size of slices. Toxiproxy never ends cutting what is
// not longer than it is to vary.
func sliceCondition(size int, pause time.Duration) (condition, error) {
	if size < 2 || pause < 0 {
		return condition{}, fmt.Errorf("slices of %d bytes with pauses of %v: want at least 2 bytes and no negative pause", size, pause)
	}
	return condition{size: size, pause: pause.Truncate(time.Microsecond)}, nil
}

// truncateCondition checks how much a connection may still carry.
func truncateCondition(bytes int) (condition, error) {
	if bytes < 1 {
		return condition{}, fmt.Errorf("truncate after %d bytes: want at least 1", bytes)
	}
	return condition{cut: truncated, left: bytes}, nil
}
