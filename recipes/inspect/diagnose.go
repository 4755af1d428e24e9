package inspect

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// Problem is a possible problem of a lock.
type Problem string

// The problems that [Diagnose] finds, and [Unused].
const (
	PersistentNode  Problem = "persistent-node"  // a contender that no session owns stays until a client deletes it
	SessionEnded    Problem = "session-ended"    // the servers no longer have the session of a contender
	ForeignChild    Problem = "foreign-child"    // a child that is no contender of the lock's recipe
	AboveSize       Problem = "above-size"       // more permits are out than the semaphore has
	HeldLong        Problem = "held-long"        // others wait, and the holder's node is old
	SequenceEnds    Problem = "sequence-ends"    // half of the sequence numbers, or all, have been used
	LongList        Problem = "long-list"        // the list of a lock's nodes fills half of an answer of the servers
	ManyPermits     Problem = "many-permits"     // the list of a semaphore's permits would do so if all were out
	LargeSession    Problem = "large-session"    // the end of a session makes a transaction of half the size that servers read
	TransactionsEnd Problem = "transactions-end" // the leader has used half of its transaction numbers
	Deadlock        Problem = "deadlock"         // sessions that wait for each other
	StaleReady      Problem = "stale-ready"      // the node "ready" of a double barrier whose round has no members
	UnusedParent    Problem = "unused-parent"    // a node without data that never had a child, see [Unused]
)

// Finding is a problem of a lock, or of several.
type Finding struct {
	Problem Problem
	Locks   []string // paths; several of Deadlock and LargeSession, none of TransactionsEnd
	Recipe  Recipe
	Nodes   []string // paths, in order
	// Contender is the contender of the node: of PersistentNode and SessionEnded, the oldest
	// holder of HeldLong, and one of the session of LargeSession.
	Contender *Contender
	Waiters   int           // that wait for the lock
	Age       time.Duration // of HeldLong: of the holder's node; of UnusedParent: of the node
	Size, Out int           // of AboveSize and ManyPermits: the semaphore's permits, and those that are out; Out of LargeSession: nodes
	// Bytes is the size of the list or transaction, and Limit the largest size allowed, of
	// LongList, ManyPermits and LargeSession.
	Bytes, Limit int
	// Left is the number of unused sequence numbers, of SequenceEnds; 0 when none is
	// left. Of TransactionsEnd it is the number of unused transaction numbers.
	Left  int64
	Cycle []Wait // of Deadlock: each session waits for the next one, the last for the first
	round int64  // of StaleReady: the transaction that created the node
}

// Wait is a session that holds one lock and waits for another.
type Wait struct {
	Session      int64
	Holds, Waits string // paths of the locks
	Holder       *Contender
	Waiter       *Contender
}

// Checks holds the options of [Diagnose].
type Checks struct {
	Now   time.Time
	Long  time.Duration  // the age from which on HeldLong is a finding; 0: never
	Sizes map[string]int // of semaphores whose nodes do not tell their size, by path
	// MaxPacket is the servers' jute.maxbuffer in bytes; 0: ZooKeeper's default, 1048575.
	MaxPacket int
	Sessions  *Sessions // nil: SessionEnded and TransactionsEnd are never findings
}

// Diagnose finds problems of locks, which have been read whole (not [Brief]). It skips
// locks of unknown recipes. The locks are read one after the other while they are in use. A
// problem that is found twice, in two snapshots some seconds apart, is real, see
// [Confirmed].
func Diagnose(locks []Lock, c Checks) (found []Finding) {
	for i := range locks {
		l := &locks[i]
		if l.Recipe == Unknown {
			continue
		}
		found = append(found, orphans(l, c)...)
		for _, judge := range []func(*Lock, Checks) *Finding{foreign, aboveSize, heldLong, sequenceEnds, longList, manyPermits, staleReady} {
			if f := judge(l, c); f != nil {
				f.Locks, f.Recipe = []string{l.Path}, l.Recipe
				_, f.Waiters = l.Count()
				found = append(found, *f)
			}
		}
	}
	return slices.Concat(found, deadlocks(locks), largeSessions(locks, c), transactionsEnd(c))
}

// Confirmed returns the findings of the second list that are also in the first: the same
// problem with the same nodes.
func Confirmed(first, second []Finding) (both []Finding) {
	known := make(map[string]bool)
	for _, f := range first {
		known[f.key()] = true
	}
	for _, f := range second {
		if known[f.key()] {
			both = append(both, f)
		}
	}
	return both
}

// key returns a text that is the same for two findings of the same problem. It leaves out
// permits and foreign children, which come and go while there are too many of them.
func (f *Finding) key() string {
	key := string(f.Problem) + " " + strings.Join(f.Locks, " ")
	switch f.Problem {
	case AboveSize, ForeignChild:
		return key
	case LargeSession: // its locks come and go too
		return fmt.Sprint(f.Problem, " ", f.Contender.Session)
	}
	return fmt.Sprint(key, " ", strings.Join(f.Nodes, " "), " ", f.round)
}

// orphans finds nodes that no live session owns.
func orphans(l *Lock, c Checks) (found []Finding) {
	_, waiters := l.Count()
	for i := range l.Queue {
		n := &l.Queue[i]
		problem := PersistentNode
		switch {
		case !n.Read:
			continue
		case n.Session == 0:
		case c.Sessions.State(n.Session) == SessionGone:
			problem = SessionEnded
		default:
			continue
		}
		found = append(found, Finding{Problem: problem, Locks: []string{l.Path}, Recipe: l.Recipe, Nodes: []string{n.Path}, Contender: n, Waiters: waiters})
	}
	return found
}

func foreign(l *Lock, _ Checks) *Finding {
	if len(l.Foreign) == 0 {
		return nil
	}
	return &Finding{Problem: ForeignChild, Nodes: l.Foreign}
}

// aboveSize counts the permits of a semaphore. An acquire of Curator's creates the node of
// its permit before it is granted, while it is first in the queue. That permit does not
// count.
func aboveSize(l *Lock, c Checks) *Finding {
	size := cmp.Or(c.Sizes[l.Path], l.Size)
	if l.Recipe != Semaphore || size == 0 {
		return nil
	}
	permits := l.Holders()
	var nodes []string
	for _, p := range permits {
		nodes = append(nodes, p.Path)
	}
	out := len(permits)
	if waiters := l.Waiters(); len(waiters) > 0 && out > 0 {
		newest := slices.MaxFunc(permits, func(a, b *Contender) int { return a.Token.Compare(b.Token) })
		if newest.Session == waiters[0].Session && newest.Token.Compare(waiters[0].Token) > 0 {
			out--
		}
	}
	if out <= size {
		return nil
	}
	return &Finding{Problem: AboveSize, Nodes: nodes, Size: size, Out: out}
}

// heldLong finds a lock with waiters whose holder's node is old. Elections and double
// barriers are left out: leaders lead for long, and members of a barrier meet on purpose.
func heldLong(l *Lock, c Checks) *Finding {
	holder, waiter := l.Oldest()
	if c.Long <= 0 || holder == nil || waiter == nil || l.Recipe == Election || l.Recipe == DoubleBarrier || Age(c.Now, holder.Since) < c.Long {
		return nil
	}
	return &Finding{Problem: HeldLong, Nodes: []string{holder.Path}, Contender: holder, Age: Age(c.Now, holder.Since)}
}

func staleReady(l *Lock, _ Checks) *Finding {
	if l.Recipe != DoubleBarrier || l.Round == nil || len(l.Holders()) > 0 {
		return nil
	}
	return &Finding{Problem: StaleReady, Nodes: []string{l.Round.Path}, round: l.Round.zxid}
}
