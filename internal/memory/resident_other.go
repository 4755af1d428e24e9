//go:build !linux

package memory

// Resident returns 0: the memory is not known on this system.
func Resident() int64 { return 0 }
