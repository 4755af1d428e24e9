// Package situations names states that many runs together have to reach, and counts how often a
// run reaches each.
//
// A lock whose bug shows in a rare situation alone, such as the reply to a create that is lost,
// passes every run in which the situation does not occur. So the situations that a night has to
// reach are named in code: see [All]. A [Counter] is told, in the order of time, the events of a
// history and, where a run has them, the requests of its clients and the changes of its servers'
// nodes. It judges nothing.
package situations
