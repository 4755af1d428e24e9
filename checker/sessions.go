package checker

import (
	"time"

	"github.com/zkverify/zkverify/histories"
)

// provenAlive returns for each session an instant before which it has certainly
// not ended: the latest invocation of what the servers have answered ok in it.
// The observer says only by when a session had ended, and it sees that late.
func (t *trace) provenAlive() map[string]time.Duration {
	alive := map[string]time.Duration{}
	for _, o := range t.ops {
		switch {
		case !o.ok() || o.session == "":
		case o.kind == histories.Read, o.kind == histories.Write, o.kind == histories.Release:
			// The store is no part of the session, and a release may be local.
		case o.acquires() && (o.depth > 1 || o.again != nil):
			// So is a re-entry.
		default:
			alive[o.session] = max(alive[o.session], o.call)
		}
	}
	return alive
}
