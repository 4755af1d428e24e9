package workload

import "golang.org/x/sys/unix"

// monotonic reads CLOCK_MONOTONIC, which all processes of a machine share.
// time.Now counts from the start of its own process.
func monotonic() int64 {
	var t unix.Timespec
	if err := unix.ClockGettime(unix.CLOCK_MONOTONIC, &t); err != nil {
		return 0
	}
	return t.Nano()
}
