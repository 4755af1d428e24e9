package ensemble

import (
	"time"

	"golang.org/x/sys/unix"
)

const hasMonotonic = true

// monotonic returns the machine's monotonic clock, in milliseconds: System.nanoTime of a JVM.
func monotonic() (int64, error) {
	var t unix.Timespec
	err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t)
	return t.Nano() / int64(time.Millisecond), err
}
