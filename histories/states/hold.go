package states

import (
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/collection"
)

// Hold is a lock that a process holds, which may be one of several that were acquired at
// once; or the stay of a process inside a double barrier.
type Hold struct {
	Process int
	Lock    string
	Recipe  histories.Recipe
	Mode    histories.Mode
	Owner   string
	Session string
	Token   histories.Token
	Permits int
	Part    int  // the index among several locks: 0 is the first, which stands for all
	Inner   int  // the number of re-entries that are not yet released
	Lost    bool // its holder was told of the loss, and has not released it yet

	number int      // holds are numbered in the order in which they began
	links  [2]link  // in the list of its process, and in the list of its lock
	crowd  *[3]link // in the lists of a crowd: see holders
}

// list is a list of holds, the oldest first.
type list = collection.List[Hold]

type link = collection.Node[Hold]

// The first two lists of a hold.
const (
	ofProcess = iota
	ofLock
)

// Change is a change of a hold by an event.
type Change struct {
	*Hold
	Kind Kind
}

// Kind is the kind of a change.
type Kind int

// The kinds of changes.
const (
	Began Kind = iota
	Again      // its owner has acquired it again
	Inner      // its owner releases a re-entry
	Lost       // its holder was told of the loss
	Ended      // its release was called, or its process crashed; or, after a loss, the process acquires again
)

// locksOf returns the locks that e is about, each with its token. The result is valid until the next call.
func (t *Tracker) locksOf(e *histories.Event) []histories.Part {
	if e.Parts != nil {
		return e.Parts
	}
	t.only[0] = histories.Part{Lock: e.Lock, Token: e.Token}
	return t.only[:]
}

// isOf reports whether e, which names a token of the hold's lock or none, is an event
// of the hold's owner about the hold.
func (h *Hold) isOf(e *histories.Event, token histories.Token) bool {
	mine := h.Process == e.Process
	if h.Owner != "" && e.Owner != "" {
		mine = h.Owner == e.Owner
	}
	none := histories.Token{}
	return mine && h.Mode == e.Mode && (token == none || h.Token == none || token == h.Token)
}
