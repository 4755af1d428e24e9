// Package nemesis injects faults: it cuts and slows links, isolates servers and
// ends sessions, by a schedule that a seed decides.
//
// The parts:
//
//   - Package fault defines a fault, and the view that it has of the system.
//   - Package faults defines every kind of fault, one in each file.
//   - A [Schedule] is data: the time, the duration, the kind and the aim of each
//     fault. [Draw] draws a schedule from a seed; a schedule can also be written by
//     hand or taken from a recorded history.
//   - [Run] carries a schedule out and records it.
//
// # Guarantees
//
// A recorded fault covers the real one: fault-start is recorded before Start
// is called, fault-stop after Stop has returned. A checker that excuses a client
// for a fault by the recorded times therefore never accuses it wrongly. This
// matters most after a forced expiry, where the session may be gone before the
// call that ended it has returned.
//
// Every fault that was started is stopped, even when the context ends early;
// Run returns only after that. A fault that does not heal within its deadline
// makes Run fail: all later events would be judged under a wrong assumption.
//
// Faults that are in force together hit disjoint clients, and at most one at a
// time touches the links between servers. A fault that finds no client or server
// to hit is skipped, and [Report] gives the reason.
//
// Two runs with one seed have the same schedule. The client that a step hits
// depends on which clients hold a lock at that time, which no seed can decide;
// the draw among the clients that qualify is part of the schedule.
package nemesis
