// Package facts extracts the facts of a history: operations paired with their completions,
// holds with their times, sessions, faults, the times in which a belief is excused, phases, and
// the pace of the run. It knows no guarantee, and judges nothing.
//
// A [Trace] is built event by event and read in windows. Code that needs the events as they are
// read is a listener of the trace; it embeds [Deaf].
package facts
