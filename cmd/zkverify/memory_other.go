//go:build !linux

package main

// residentMemory returns 0: the memory is not known on this system.
func residentMemory() int64 { return 0 }
