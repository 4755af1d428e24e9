package facts

import "github.com/zkverify/zkverify/histories"

// ownerKey names an owner of a lock.
type ownerKey struct {
	lock, owner string
	mode        histories.Mode
}

// ownership is what an owner has of a lock.
type ownership struct {
	key   ownerKey
	hold  *Hold // nil when the owner holds nothing
	depth int
	prev  *Hold // the last hold that ended
	open  int   // acquires and releases of this owner that are open, or were when their process crashed
	first *Op   // the one that was open when another was invoked is shared, and so are all after it

	changed bool // in this window
}

// lastOwnership is the one that a process asked for last: most often the one that
// it asks for next.
type lastOwnership struct {
	key ownerKey
	is  *ownership
}

// LockUse is the use of a lock by a process, of a read/write lock in one of its modes.
type LockUse struct {
	Process int
	Lock    string
	Mode    histories.Mode
}
