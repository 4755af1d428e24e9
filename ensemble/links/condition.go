package links

import (
	"errors"
	"fmt"
	"time"
)

// condition is the effect of a link on data. The zero condition is a healthy link.
type condition struct {
	cut             Cut // "" for none
	left            int // bytes until the connection is truncated
	latency, jitter time.Duration
	oneWay          bool    // the latency holds for the server's data alone
	stalled         [2]bool // the client's data, the server's data
	rate            int     // in kilobytes a second
	size            int     // of slices, in bytes
	pause           time.Duration
}

// truncated is the cut of Truncate.
const truncated Cut = "truncated"

// toxic is one effect on one of the two streams of a proxy's connections. Its
// JSON form is the one that Toxiproxy reads.
type toxic struct {
	Name       string           `json:"name"`
	Type       string           `json:"type"`
	Stream     string           `json:"stream"`   // "upstream" is towards the server
	Toxicity   float32          `json:"toxicity"` // 1: Toxiproxy's dice have no seed, so they are never rolled
	Attributes map[string]int64 `json:"attributes"`
}

// toxics returns the toxics with which a running proxy is in condition c. Down has
// none: its proxy does not run.
//
// A black hole is the timeout toxic with timeout 0, which drops data and keeps
// connections open. A huge latency would not do: it keeps data, and delivers it in
// order when it is taken off, which is a stall. When a toxic is added, the last one
// is interrupted and lets go of the data that it holds: so the last toxic of a stall
// is a gate, which holds no data.
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
	case c.stalled != [2]bool{}:
		var of []toxic
		for i, stream := range []string{"upstream", "downstream"} {
			if c.stalled[i] {
				of = append(of, on(stream, "stall", "latency", map[string]int64{"latency": forever.Milliseconds()}),
					on(stream, "gate", "latency", map[string]int64{"latency": 0}))
			}
		}
		return of
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

// forever is longer than any stall.
const forever = 24 * time.Hour

// stallCondition checks that at least one direction is to be held back.
func stallCondition(requests, replies bool) (condition, error) {
	if !requests && !replies {
		return condition{}, errors.New("a stall of neither direction: want requests, replies, or both")
	}
	return condition{stalled: [2]bool{requests, replies}}, nil
}

// throttleCondition checks and rounds a rate.
func throttleCondition(bytesPerSecond int) (condition, error) {
	if bytesPerSecond <= 0 {
		return condition{}, fmt.Errorf("throttle to %d bytes a second: want more than 0", bytesPerSecond)
	}
	return condition{rate: (bytesPerSecond-1)/1000 + 1}, nil
}

// sliceCondition checks the size of slices. Toxiproxy cuts without end if the data is no
// longer than the variation of the size.
func sliceCondition(size int, pause time.Duration) (condition, error) {
	if size < 2 || pause < 0 {
		return condition{}, fmt.Errorf("slices of %d bytes with pauses of %v: want at least 2 bytes and no negative pause", size, pause)
	}
	return condition{size: size, pause: pause.Truncate(time.Microsecond)}, nil
}

// truncateCondition checks the number of bytes that a connection may still carry.
func truncateCondition(bytes int) (condition, error) {
	if bytes < 1 {
		return condition{}, fmt.Errorf("truncate after %d bytes: want at least 1", bytes)
	}
	return condition{cut: truncated, left: bytes}, nil
}
