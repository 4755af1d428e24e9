// Package fencing judges what protects data behind a lock: that tokens grow, and that no
// increment of a counter is lost.
package fencing
