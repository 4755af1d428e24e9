//go:build unix

package main

import (
	"runtime"
	"syscall"
)

// peakMemory returns the most memory that the process ever had, in bytes.
func peakMemory() int64 {
	var u syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &u) != nil {
		return 0
	}
	if runtime.GOOS == "darwin" {
		return int64(u.Maxrss)
	}
	return int64(u.Maxrss) << 10 // kilobytes elsewhere
}
