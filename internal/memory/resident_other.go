//go:build !linux

package memory

// Resident is not known here.
func Resident() int64 { return 0 }
