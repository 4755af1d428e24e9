// Package shrink leaves events out of a history for as long as a violation stays the
// same, and no other one comes up.
package shrink
