//go:build !linux

package campaign

import "time"

// starved returns 0: this system does not count the time that a process waited for a processor.
func starved(int) time.Duration { return 0 }
