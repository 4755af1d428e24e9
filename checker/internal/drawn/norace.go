//go:build !race

package drawn

// Race says whether the race detector is on.
const Race = false
