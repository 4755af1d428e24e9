// Package live lets a cluster of simulated servers follow a clock, and connects clients
// to them in memory. The clock is the caller's: real, or that of a bubble of
// testing/synctest, in which a minute takes no time.
package live
