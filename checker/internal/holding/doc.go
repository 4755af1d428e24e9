// Package holding judges what is held at a time: mutual exclusion, read/write, permits,
// reentrancy, and several locks at once. All of them hold the parts of holds that count
// against each other, in a sweep over intervals; the first three in a search as well.
package holding
