// Package holding judges the holds that processes have at one time: mutual exclusion,
// read/write, permits, reentrancy, and several locks at once. Each judge compares the parts of
// holds that count, in a sweep over intervals. The first three judge by a search as well.
package holding
