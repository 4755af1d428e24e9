package checker

import "github.com/zkverify/zkverify/histories"

// proves takes note of what an answer says of its session: that it had certainly
// not ended when the servers were asked. The observer says only by when a session
// had ended, and it sees that late; what is answered after that proves nothing any
// more.
func (t *trace) proves(o *op) {
	if _, ended := t.expired[o.session]; ended || !o.ok() || o.session == "" {
		return
	}
	switch {
	case o.kind == histories.Read, o.kind == histories.Write, o.kind == histories.Release:
		// The store is no part of the session, and a release may be local.
	case o.acquires() && (o.depth > 1 || o.again != nil):
		// So is a re-entry.
	default:
		t.alive[o.session] = max(t.alive[o.session], o.call)
	}
}
