// Package shrink leaves events out of a history as long as a violation stays the same and no
// other one appears.
package shrink
