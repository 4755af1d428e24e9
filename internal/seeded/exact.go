//go:build seeded

package seeded

import _ "unsafe" // for go:linkname

const exact = true

// The functions below are in the overlay's part of package runtime: without the overlay, a build
// with the tag seeded does not link.

//go:linkname runtimeSeed
func runtimeSeed(seed uint64)

//go:linkname runtimeNewProcess
func runtimeNewProcess() int

//go:linkname runtimeEnter
func runtimeEnter(process int) (before int)

//go:linkname runtimePause
func runtimePause(process int)

//go:linkname runtimeResume
func runtimeResume(process int)
