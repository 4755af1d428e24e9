// Package witness tells who was involved in a violation: the parties of operations and
// holds, the faults around it, and the ends of the parties' sessions that explain it.
package witness
