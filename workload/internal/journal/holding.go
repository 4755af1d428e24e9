package journal

import (
	"sync/atomic"

	"github.com/zkverify/zkverify/histories"
)

// Holding is a lock, or several acquired at once, that a client believes to hold.
type Holding struct {
	Event     histories.Event // process, lock or parts, owner, session and token
	Nodes     func() []string // of the locks, where the lease knows them; else nil
	Suspended func(bool)      // called when the lease's link is down, or back
	Lingers   atomic.Bool     // the client would hold on if a fault hit it now
}

// Lock returns the lock that is held, or the first of several.
func (h *Holding) Lock() string {
	if h.Event.Parts != nil {
		return h.Event.Parts[0].Lock
	}
	return h.Event.Lock
}

// has reports whether the token is one of the locks'.
func (h *Holding) has(token histories.Token) bool {
	if h.Event.Token == token {
		return true
	}
	for _, p := range h.Event.Parts {
		if p.Token == token {
			return true
		}
	}
	return false
}

// Stand is a lock that a client holds or waits for, and the token of its node, which is zero
// for a lease of a lock without tokens.
type Stand struct {
	Lock    string
	Token   histories.Token
	Node    string // its path, where the lease knows it
	Permits int    // of a lease of permits
}

func (h *Holding) stands() (all []Stand) {
	var nodes []string
	if h.Nodes != nil {
		nodes = h.Nodes()
	}
	node := func(i int) string {
		if i < len(nodes) {
			return nodes[i]
		}
		return ""
	}
	if h.Event.Parts == nil {
		if h.Event.Permits > 0 {
			nodes = nil // it may not know all
		}
		return []Stand{{h.Event.Lock, h.Event.Token, node(0), h.Event.Permits}}
	}
	for i, p := range h.Event.Parts {
		all = append(all, Stand{p.Lock, p.Token, node(i), 0})
	}
	return all
}
