//go:build seeded

package seeded

import _ "unsafe" // for go:linkname

const exact = true

// runtimeSeed is in the overlay's part of package runtime: without the overlay, a build
// with the tag seeded does not link.
//
//go:linkname runtimeSeed
func runtimeSeed(seed uint64)
