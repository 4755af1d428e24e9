// Package live lets a cluster of simulated servers follow a clock, and gives clients
// connections to them in memory. The clock is that of the caller: real, or that of a
// bubble of testing/synctest, in which a minute takes no time.
package live
