// Package nemesis breaks things on purpose: it cuts and slows links, isolates
// servers and ends sessions, by a schedule that a seed decides.
//
// The parts:
//
//   - Package fault says what a fault is, and what it sees of the system.
//   - Package faults has every kind of fault, a file each.
//   - A [Schedule] is data: when, for how long, which kind, aimed at whom.
//     [Draw] makes one from a seed; it can as well be written by hand or taken
//     from a recorded history.
//   - [Run] carries a schedule out and records it.
//
// # What is promised
//
// A recorded fault covers the real one: fault-start is recorded before Start
// is called, fault-stop after Stop has returned. Whoever excuses a client for
// a fault by the recorded times can therefore not accuse it wrongly, least of
// all after a forced expiry, where the session may be gone before the call
// that ended it has returned.
//
// Every fault that was started is stopped, also when the context ends early;
// Run returns only after that. A fault that does not heal within its deadline
// makes Run fail: everything recorded after it would be judged under a wrong
// assumption.
//
// Faults that are in force together hit disjoint clients, and at most one at a
// time touches the links between servers. A fault that finds nobody to hit is
// skipped, and [Report] says why.
//
// Two runs with one seed have the same schedule. Whom a step hits depends on
// who holds a lock at that time, which no seed can decide; the draw among
// those who qualify is the schedule's.
package nemesis
