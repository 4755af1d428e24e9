//go:build !linux

package process

import "time"

// starved is how long a process could have run and had no processor. Nobody says here.
func starved(int) time.Duration { return 0 }
