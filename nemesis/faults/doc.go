// Package faults defines every kind of fault, each in a file of its own: its need of an
// ensemble, its duration, its target, its effect and the way the effect is undone. [List]
// lists all kinds. To add a kind, write its file and add it to List: drawing, recording,
// healing and schedules know no kind by name.
package faults
