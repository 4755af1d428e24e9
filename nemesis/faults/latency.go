package faults

import (
	"context"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// latencyKind slows one client's links down, each way, with jitter that
// reorders the requests of different clients. The latency is too low to end a
// session: 20 to 200 ms each way.
func latencyKind() fault.Kind {
	return fault.Kind{
		Name: "latency", Description: "a client's links are slow, with jitter", Weight: 1, Links: true,
		Span:   fault.Timeouts(0.5, 1.5),
		Params: latencyParams(), Together: checkLatency,
		Make: func(s fault.Scene) (fault.Fault, error) {
			return onClient(s, "latency", func(f *fault.Fault) func(context.Context, links.Link) error {
				latency, jitter := setLatency(s, f, 20*time.Millisecond, min(200*time.Millisecond, s.SessionTimeout()/8))
				return func(ctx context.Context, l links.Link) error { return l.Delay(ctx, latency, jitter) }
			})
		},
	}
}

func latencyParams() []fault.Param {
	return []fault.Param{fault.Duration("latency", time.Millisecond), fault.Duration("jitter", 0)}
}

// setLatency sets the latency of links, between least and most, and its jitter.
func setLatency(s fault.Scene, f *fault.Fault, least, most time.Duration) (latency, jitter time.Duration) {
	latency = least + time.Duration(s.Rand.IntN(max(1, int((most-least)/time.Millisecond+1))))*time.Millisecond
	part := time.Duration(2 + s.Rand.IntN(4))
	latency = s.SetDuration(f, "latency", min(latency, most))
	jitter = s.SetDuration(f, "jitter", latency/part)
	return latency, min(jitter, latency)
}

// checkLatency refuses a jitter that is larger than the latency.
func checkLatency(params map[string]string) error {
	latency, _ := time.ParseDuration(params["latency"])
	if jitter, err := time.ParseDuration(params["jitter"]); err == nil && jitter > latency {
		return fmt.Errorf("jitter is %v: want at most the latency, which the schedule must say too", jitter)
	}
	return nil
}
