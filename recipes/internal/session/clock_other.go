//go:build !linux

package session

// MachineClock returns the clock of the machine that this process runs on: Go's clock,
// which docs/contract.md describes.
func MachineClock() Clock { return goClock{} }
