//go:build !race

package drawn

// Race is true if the race detector is on.
const Race = false
