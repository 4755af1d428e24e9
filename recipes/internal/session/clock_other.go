//go:build !linux

package session

// MachineClock returns the clock of the machine that this process runs on: Go's, see
// docs/contract.md for what that is.
func MachineClock() Clock { return goClock{} }
