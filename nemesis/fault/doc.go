// Package fault says what a fault is.
//
//   - A [Fault] is one thing that can be done to a running system and undone
//     again: Start puts it in force, Stop heals it within HealWithin.
//   - A [Kind] is a family of faults, what a schedule names: it looks at the
//     scene and makes the fault that fits.
//   - A [World] is what faults may know and touch: the ensemble, and for each
//     client its links, its session and whether it holds a lock just now.
//   - A [Scene] is the world at one moment, less what other faults have hold of; a
//     [Pick] is what the schedule says of whom to hit.
package fault
