// Package histories defines the record of one run and reads and writes it.
//
// A history is one file: a [Header] line, then one [Event] a line, in the
// order in which they happened, each stamped in nanoseconds on the run's one
// monotonic clock.
package histories
