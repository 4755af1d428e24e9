package session

import (
	"syscall"
	"time"
	"unsafe"
)

// Clocks of Linux.
const (
	clockRealtime = 0
	clockBoottime = 7 // CLOCK_MONOTONIC and the time for which the machine has slept
)

// bootClock is CLOCK_BOOTTIME. A reading is one system call. The alternative, adding
// BOOTTIME − MONOTONIC to time.Now, takes two, and a process that is paused between them
// sees a sleep that did not happen. A cheaper way is not safe: comparing Go's wall clock
// with its monotonic clock needs no system call, but equal progress of both does not show
// that the machine has not slept, since the wall clock may have been set back by as much.
//
// Only differences of readings count, so that the offset of a time namespace does not
// matter.
type bootClock struct {
	started time.Time     // by time.Now
	boot    time.Duration // CLOCK_BOOTTIME at that moment
}

// exactness is the largest distance of two readings that count as simultaneous.
const exactness = time.Millisecond

// MachineClock returns the clock of the machine that this process runs on.
func MachineClock() Clock {
	if !goTellsMachineTime() {
		return goClock{}
	}
	for {
		c := bootClock{started: time.Now()}
		var err error
		if c.boot, err = readClock(clockBoottime); err != nil {
			return goClock{}
		}
		if time.Since(c.started) < exactness {
			return c
		}
	}
}

// goTellsMachineTime reports whether Go's clock is the machine's. It is not in a bubble of
// testing/synctest, where time begins in the year 2000 and passes when all goroutines wait;
// the sleep of the machine has no meaning there. The function tries again in case the wall
// clock was set between two readings.
func goTellsMachineTime() bool {
	for range 3 {
		wall, err := readClock(clockRealtime)
		if err != nil {
			return false
		}
		if off := time.Since(time.Unix(0, int64(wall))); off.Abs() < time.Minute {
			return true
		}
	}
	return false
}

// Now implements Clock.
func (c bootClock) Now() time.Time {
	boot, _ := readClock(clockBoottime) // the clock could be read when it was started
	return c.started.Add(boot - c.boot)
}

// Slept implements Clock. It is off by less than exactness.
func (c bootClock) Slept() time.Duration {
	for {
		before := time.Since(c.started)
		boot, _ := readClock(clockBoottime)
		if time.Since(c.started)-before >= exactness {
			continue // the process was paused in between
		}
		if slept := boot - c.boot - before; slept >= exactness {
			return slept
		}
		return 0
	}
}

// readClock reads a clock of the kernel. It does not give up the processor, as
// syscall.Syscall would, because that takes longer than the call.
func readClock(id uintptr) (time.Duration, error) {
	var t syscall.Timespec
	if _, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, id, uintptr(unsafe.Pointer(&t)), 0); errno != 0 {
		return 0, errno
	}
	return time.Duration(t.Nano()), nil
}
