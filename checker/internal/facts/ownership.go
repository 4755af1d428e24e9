package facts

import "github.com/zkverify/zkverify/histories"

// ownerKey identifies an owner of a lock.
type ownerKey struct {
	owner string
	mode  histories.Mode
}

// ownership is the state of an owner at a lock.
type ownership struct {
	lock  *LockInfo
	key   ownerKey
	hold  *Hold // nil when the owner holds nothing
	depth int
	prev  *Hold // the last hold that ended
	open  int   // acquires and releases of this owner that are open, or were when their process crashed
	first *Op   // the operation that was open when another was invoked: it and all later ones are shared

	changed bool // in this window
}

// lastOwnership is the ownership that a process used last, most often the one that it uses
// next.
type lastOwnership struct{ is *ownership }

// owned holds the ownerships of a lock. Most locks have one at a time, which needs no map.
type owned struct {
	one  *ownership
	more map[ownerKey]*ownership
}

func (o *owned) of(k ownerKey) *ownership {
	if o.one != nil && o.one.key == k {
		return o.one
	}
	return o.more[k]
}

func (o *owned) add(w *ownership) {
	switch {
	case o.one == nil:
		o.one = w
	case o.more == nil:
		o.more = map[ownerKey]*ownership{w.key: w}
	default:
		o.more[w.key] = w
	}
}

func (o *owned) drop(w *ownership) {
	if o.one == w {
		o.one = nil
		return
	}
	delete(o.more, w.key)
}

// LockUse is the use of a lock by a process; of a read/write lock, in one of its modes.
type LockUse struct {
	Process int
	Lock    string
	Mode    histories.Mode
}
