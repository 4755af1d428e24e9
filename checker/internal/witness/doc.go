// Package witness composes witnesses of violations: the parties of operations and holds, the
// faults around the violation, and the ends of the parties' sessions that explain it.
package witness
