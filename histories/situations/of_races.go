package situations

import (
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// ofRaces are the situations in which servers change between two steps of a client.
func ofRaces() []kind {
	return []kind{
		{Situation{Name: "gone-before-the-watch", Says: "a node is deleted between a client's list and its watch", Recipes: locks, Traced: true}, goneBeforeWatch},
		{Situation{Name: "resized-between-reads", Says: "the size of a semaphore changes between two reads of one acquire", Recipes: only(histories.SharedSemaphore), Traced: true}, resizedBetweenReads},
		{Situation{Name: "joint-write-with-one-gone", Says: "a write guarded by several locks is refused, since one of them is gone", Recipes: only(histories.MultiLock), Faults: slices.Concat(deletion, expiry), AtMessages: true, Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.guarded() && c.Checks > 1 && c.Failed == NoNode
		})},
		{Situation{Name: "release-finds-nothing", Says: "the node that a client deletes is gone already", Recipes: locks, Faults: deletion, AtMessages: true, Traced: true}, onCall(func(v *view, c *Call) bool {
			return c.Op == Delete && c.Failed == NoNode && v.recipe(c.Path).IsLock() && lockOf(c.Path) != ""
		})},
		{Situation{Name: "behind-its-own-old-node", Says: "a client queues behind its node of an earlier session", Recipes: locks, Faults: []string{"kill-worker", "down"}, AtMessages: true, Traced: true}, besideOldNode(histories.Recipe.IsLock)},
		{Situation{Name: "granted-on-a-cut-off-server", Says: "a lock is granted while its holder's server is cut off from the others", Recipes: locks, Faults: serverCuts, Traced: true}, onEvent(grantedCutOff)},
		{Situation{Name: "granted-in-an-ended-session", Says: "a session ends between the server's last answer and the hold", Recipes: locks, Faults: expiry, AtMessages: true, Traced: true}, onEvent(func(v *view, e *histories.Event) bool {
			s := v.sessions[e.Session]
			return acquired(e) && s != nil && s.ended
		})},
		{Situation{Name: "comes-back-to-a-stale-server", Says: "a client reconnects to a server that lags behind", Faults: []string{"slow-peers", "stall-peers", "one-way", "latency", "down", "reset"}, Traced: true}, onCall(func(v *view, c *Call) bool {
			return c.Op == Connect && c.Zxid != 0 && c.Zxid < v.lastBefore(c.At-stale)
		})},
		{Situation{Name: "comes-back-too-late", Says: "a client reconnects after its session has ended", Faults: slices.Concat(expiry, []string{"down", "expire-silence"}), Traced: true}, onCall(func(_ *view, c *Call) bool {
			return c.Op == Connect && c.Received && c.Failed != ""
		})},
	}
}

// stale is the time for which a healthy server never lags behind.
const stale = 20 * time.Millisecond

func goneBeforeWatch() detector {
	type place struct{ session, dir string }
	listed := map[place]int64{} // the last transaction that the last list has seen
	return detector{call: func(v *view, c *Call) bool {
		if lockOf(c.Path) == "" || !c.Received {
			return false
		}
		switch {
		case c.Op == List && c.Failed == "":
			listed[place{c.Session, c.Path}] = c.Zxid
		case c.Op == Read && c.Watch && c.Failed == NoNode:
			seen, known := listed[place{c.Session, parentOf(c.Path)}]
			return known && v.between(seen, c.Zxid, func(x *Change) bool { return x.Op == Delete && x.Path == c.Path })
		}
		return false
	}}
}

// oneAcquire is the longest time between two reads of one acquire that does not wait.
const oneAcquire = 20 * time.Millisecond

func resizedBetweenReads() detector {
	type read struct{ session, lock string }
	last := map[read]Call{}
	return detector{call: func(v *view, c *Call) bool {
		if c.Op != List && c.Op != Read || !c.Received || v.recipe(c.Path) != histories.SharedSemaphore {
			return false
		}
		of := read{c.Session, lockOf(c.Path)}
		before, known := last[of]
		last[of] = *c
		return known && isSize(before.Path) != isSize(c.Path) && c.At-before.At <= oneAcquire &&
			v.between(before.Zxid, c.Zxid, func(x *Change) bool { return x.Op == Set && isSize(x.Path) && lockOf(x.Path) == of.lock })
	}}
}

// besideOldNode recognizes a node that a client creates while one of an earlier session of its own
// is in the same place, for such recipes.
func besideOldNode(such func(histories.Recipe) bool) func() detector {
	return func() detector {
		return detector{change: func(v *view, c *Change) bool {
			if c.Op != Create || !c.Own {
				return false
			}
			r := v.recipe(c.Path)
			if r == "" || !such(r) {
				return false
			}
			mine := v.session(c.Session).clients
			for path, owner := range v.nodes {
				if owner != c.Session && parentOf(path) == parentOf(c.Path) && slices.ContainsFunc(v.session(owner).clients, func(a string) bool { return slices.Contains(mine, a) }) {
					return true
				}
			}
			return false
		}}
	}
}

func grantedCutOff(v *view, e *histories.Event) bool {
	s := v.sessions[e.Session]
	if !acquired(e) || s == nil || s.server == 0 {
		return false
	}
	for _, f := range v.inForce {
		if slices.Contains(serverCuts, f.Name) && slices.Contains(f.servers, s.server) && e.Time-f.since >= moment {
			return true
		}
	}
	return false
}
