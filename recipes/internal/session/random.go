package session

import (
	"math/rand/v2"
	"time"
)

// random is the source of all randomness of the locks: guids, the order of servers and of
// heartbeats, and the waits between attempts to connect. It is safe for concurrent use,
// because the runtime's generator is.
var random = rand.New(runtimeSource{})

// runtimeSource is the runtime's generator, which the operating system seeds.
type runtimeSource struct{}

func (runtimeSource) Uint64() uint64 { return rand.Uint64() }

// Random returns a random duration of less than d, which is positive.
func Random(d time.Duration) time.Duration { return time.Duration(random.Int64N(int64(d))) }
