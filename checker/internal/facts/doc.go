// Package facts takes a history apart: operations paired with their completions, who
// held what from when to when, sessions, faults, when a belief is excused, phases, and
// the pace of the run. It knows no guarantee, and judges nothing.
//
// A [Trace] is built event by event and looked at in windows. What has to hear of
// events while they are read is a [Listener] of it.
package facts
