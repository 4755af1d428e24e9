package session

import (
	"math/rand/v2"
	"time"
)

// random is all the randomness that the locks have: guids, the order of servers and of
// heartbeats, and the waits between attempts to connect. It is safe for concurrent use, as
// the runtime's generator is that it draws from.
var random = rand.New(runtimeSource{})

// runtimeSource is the runtime's generator, which the operating system seeds.
type runtimeSource struct{}

func (runtimeSource) Uint64() uint64 { return rand.Uint64() }

// Random returns a random time of less than d, which is positive.
func Random(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
