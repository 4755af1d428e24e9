// Package seeded makes a whole process repeat: with the same seed, a program runs the same
// goroutines in the same order, down to the last select.
//
// Stock Go draws from the operating system's randomness and from the clock: which ready
// case a select takes, where a range over a map starts, which of two timers due at the same
// instant fires first, when a goroutine is preempted. A binary that is built with the tag
// seeded and the overlay of [package overlay] draws all of it from one generator, which
// [Seed] sets. make build-sim builds such a binary; on stock Go the functions of this
// package compile and change no order.
//
// A run repeats exactly if
//   - the process starts with the same binary, arguments and environment ([Environ]):
//     they lie on the heap, and addresses decide the order of maps keyed by pointers;
//   - it calls [Prepare] and then [Seed] before anything else;
//   - its code after that has no other input: no network, no real time, as in a
//     testing/synctest bubble;
//   - no goroutine spins until another one has run: without preemption it spins for ever.
//
// A process makes one exact run. A second one in the same process starts from another heap.
//
// [package overlay]: https://pkg.go.dev/github.com/zkverify/zkverify/internal/overlay
package seeded

import (
	"math"
	"runtime"
	"runtime/debug"
)

// Prepare sets up the process for an exact run: one processor, and no garbage collection,
// which moves the addresses of later allocations. Memory is not freed until the process
// ends, or [debug.SetGCPercent] is called again.
func Prepare() {
	runtime.GOMAXPROCS(1)
	debug.SetGCPercent(-1)
	debug.SetMemoryLimit(math.MaxInt64)
}

// Environ returns the environment of a process that makes an exact run, for [os/exec.Cmd]'s
// Env. The caller may append variables whose number and lengths are the same in every run.
func Environ() []string {
	return []string{"GODEBUG=", "TZ=UTC"}
}

// Exact reports whether this binary's runtime is seeded. If not, Seed does nothing and
// no run repeats exactly.
func Exact() bool { return exact }

// Seed starts the runtime's generator again from seed. Existing maps keep the seeds of
// their hashes. The generator also serves math/rand, math/rand/v2, hash/maphash and
// crypto/rand: no random number of such a binary is secret.
func Seed(seed uint64) { runtimeSeed(seed) }
