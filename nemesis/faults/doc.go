// Package faults has every kind of fault, a file each: what it needs of an ensemble,
// how long it lasts, whom it hits, what it does and how that is undone. [List] has
// them all. To add one, write its file and put it on the list: drawing, recording,
// healing and schedules know no kind by name.
package faults
