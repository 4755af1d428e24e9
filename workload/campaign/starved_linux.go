package campaign

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"
)

// starved returns the time for which a process could have run and had no processor: that of the
// thread that waited longest, by the kernel's count. It is 0 where the kernel does not count.
func starved(pid int) (longest time.Duration) {
	threads, err := filepath.Glob(filepath.Join("/proc", strconv.Itoa(pid), "task/*/schedstat"))
	if err != nil {
		return 0
	}
	for _, name := range threads {
		text, err := os.ReadFile(name)
		if err != nil {
			continue // it has ended
		}
		// Time on a processor, time that it waited for one, both in nanoseconds, and how often.
		if fields := strings.Fields(string(text)); len(fields) == 3 {
			ns, _ := strconv.ParseInt(fields[1], 10, 64)
			longest = max(longest, time.Duration(ns))
		}
	}
	return longest
}
