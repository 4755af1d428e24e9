package protocol

import "golang.org/x/sys/unix"

// Now reads CLOCK_MONOTONIC in nanoseconds, which all processes of a machine share.
// time.Now counts from the start of its own process.
func Now() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}
