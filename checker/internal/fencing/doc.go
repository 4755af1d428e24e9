// Package fencing judges the protection of data behind a lock: tokens grow, and no increment of
// a counter is lost.
package fencing
