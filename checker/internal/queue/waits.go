package queue

import (
	"cmp"
	"fmt"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/internal/words"
)

// waits is the wait-for graph of a recovery: which processes wait for a lock, and who is in
// their way.
type waits struct {
	t       *facts.Trace
	leaks   *leaks
	holders map[*facts.LockInfo]*facts.Hold // the last hold of each lock, if no release of it was answered
	waiting map[facts.LockUse]waiting
	end     time.Duration // of the recovery
}

// waiting is a process that waits for a lock.
type waiting struct {
	since time.Duration // of its first attempt that did not succeed
	last  *facts.Op     // its last attempt
}

// waitsIn returns the graph at the end of a recovery that began at start. all are the attempts.
func waitsIn(t *facts.Trace, all []recentOp, leaks *leaks, start, end time.Duration) *waits {
	w := &waits{t: t, leaks: leaks, holders: map[*facts.LockInfo]*facts.Hold{}, waiting: map[facts.LockUse]waiting{}, end: end}
	all = slices.Clone(all)
	slices.SortStableFunc(all, func(a, b recentOp) int { return cmp.Compare(a.Call, b.Call) })
	for _, r := range all {
		o := r.Op
		if h := own(o); h != nil {
			// Of an exclusive lock that was granted again since, another is in the way.
			if h.Start == o.Info().Granted && h.Released == facts.Forever && !h.Closed && !w.ended(h.Session) {
				w.holders[o.Info()] = h
			}
		}
		if o.Call > end || o.Ret < start || o.Again != nil {
			continue
		}
		k := facts.LockUse{Process: o.Process, Lock: o.Lock, Mode: o.Mode}
		if before, again := w.waiting[k]; o.OK() {
			delete(w.waiting, k)
		} else if again {
			w.waiting[k] = waiting{before.since, o}
		} else {
			w.waiting[k] = waiting{o.Call, o}
		}
	}
	return w
}

// ended reports whether a session was seen to have ended: then its nodes are gone.
func (w *waits) ended(session string) bool {
	at, ended := w.t.Sessions.Expired[session]
	return ended && at <= w.end
}

// suspect returns the first acquire that may have left a node behind in a session that goes on.
func (w *waits) suspect(lock *facts.LockInfo) *facts.Op {
	for _, o := range w.leaks.suspects[lock] {
		session := o.Session
		if place := len(o.Places) - 1; place >= 0 {
			session = o.Places[place].Session
		}
		if !w.ended(session) {
			return o
		}
	}
	return nil
}

// graph returns the locks that the processes of some pairs wait for, those with the most
// waiters first.
func (w *waits) graph(pairs []pair) []verdict.Wait {
	byLock := map[string][]verdict.Waiter{}
	for _, p := range pairs {
		if x, waits := w.waiting[p.LockUse]; waits {
			byLock[p.Lock] = append(byLock[p.Lock], verdict.Waiter{Process: p.Process, Name: x.last.By.Name, Since: x.since, Invoke: x.last.Invoke})
		}
	}
	var all []verdict.Wait
	for lock, waiters := range byLock {
		slices.SortFunc(waiters, func(a, b verdict.Waiter) int {
			return cmp.Or(cmp.Compare(a.Since, b.Since), a.Process-b.Process)
		})
		waiters = slices.CompactFunc(waiters, func(a, b verdict.Waiter) bool { return a.Process == b.Process })
		_, why := w.inTheWay(w.t.Info(lock))
		all = append(all, verdict.Wait{Lock: lock, Waiters: waiters, Blocked: why})
	}
	slices.SortFunc(all, func(a, b verdict.Wait) int {
		return cmp.Or(len(b.Waiters)-len(a.Waiters), cmp.Compare(a.Lock, b.Lock))
	})
	return all
}

// inTheWay returns the part that is in the way of all who wait for a lock, nil if the record
// does not tell, and the reason why that does not end.
func (w *waits) inTheWay(lock *facts.LockInfo) (*verdict.Party, string) {
	if !lock.Recipe.IsLock() {
		return nil, "nothing on record opens " + lock.Lock
	}
	h := w.holders[lock]
	n, known := w.first(lock)
	switch {
	case h != nil && (!known || n != nil && w.t.Service.NodeOf(h) == n):
		p := judge.HoldParty(h)
		return &p, w.holds(h)
	case n != nil:
		return w.owner(n)
	case known:
		return nil, "no node stands in the queue of " + lock.Lock
	}
	if o := w.suspect(lock); o != nil {
		p := judge.OpParty(o)
		return &p, fmt.Sprintf("no process holds %s; %s, %s, may have left a node in its queue", lock.Lock, o.By.Name, acquire(o))
	}
	text := "by the record no process holds " + lock.Lock
	if lock.Granted != 0 {
		text += fmt.Sprintf(" since %s, which got it at %s", w.t.Header.Name(lock.GrantedTo), verdict.At(lock.Granted))
	}
	if n := w.left(lock.Lock); n > 0 {
		text += fmt.Sprintf("; %s left in its queue at the end of the run", words.Count(n, "node")+" "+map[bool]string{true: "was", false: "were"}[n == 1])
	}
	return nil, text
}

// acquire describes an acquire that is over without a hold.
func acquire(o *facts.Op) string {
	what := "was not answered"
	switch {
	case o.Gone:
		what = "ended with a crash"
	case o.Result == histories.Fail:
		what = "failed at " + verdict.At(o.Ret)
	}
	return fmt.Sprintf("whose acquire of %s %s", verdict.At(o.Call), what)
}

// first returns the first node in a queue at the end, nil if none stands, and whether the servers' log
// tells. In a lock that several may hold, the first is not in the way.
func (w *waits) first(lock *facts.LockInfo) (_ *service.Node, known bool) {
	if w.t.Service == nil || !lock.Recipe.Exclusive() {
		return nil, false
	}
	return w.t.Service.First(lock.Lock, w.end)
}

// owner tells of which acquire a first node is, or of an earlier one of whose client; the party is nil if
// none of its session is known.
func (w *waits) owner(n *service.Node) (*verdict.Party, string) {
	text := fmt.Sprintf("the first node in the queue of %s, created at %s, is ", n.Lock(), verdict.At(n.Created.Time))
	for _, o := range w.leaks.suspects[w.t.Info(n.Lock())] {
		if o.Was(n.Session) && o.Call <= n.Created.Time {
			p := judge.OpParty(o)
			return &p, text + "that of " + o.By.Name + ", " + acquire(o)
		}
	}
	var of *facts.Op
	for k, x := range w.waiting {
		if k.Lock == n.Lock() && x.last.Was(n.Session) && (of == nil || x.last.Call < of.Call) {
			of = x.last
		}
	}
	if of == nil {
		return nil, text + "of session " + n.Session
	}
	p := judge.OpParty(of)
	if of.Call > n.Created.Time {
		return &p, text + "of an earlier acquire of " + of.By.Name
	}
	return &p, text + "that of " + of.By.Name + ", which waits"
}

// left returns the number of nodes that the census found in the queue of a lock.
func (w *waits) left(lock string) (n int) {
	if w.t.Census == nil {
		return 0
	}
	for _, node := range w.t.Census.Census.Contenders {
		if path.Base(path.Dir(node)) == lock {
			n++
		}
	}
	return n
}

// holds describes a hold that did not end for the servers.
func (w *waits) holds(h *facts.Hold) string {
	node := fmt.Sprintf("%s's node belongs to %s", h.Lock, h.Acquire.By.Name)
	switch h.Why {
	case facts.StillHeld:
		text := fmt.Sprintf("%s holds %s since %s", h.Acquire.By.Name, h.Lock, verdict.At(h.Start))
		if other, since := w.longest(h.Process, h.Lock); other != "" {
			return text + " and waits for " + other + " since " + verdict.At(since)
		}
		return text + " and has not released it"
	case facts.ByLoss:
		return fmt.Sprintf("%s, which was told at %s that it had lost the lock, while its session went on", node, verdict.At(h.End))
	case facts.ByCrashing:
		return fmt.Sprintf("%s, which crashed at %s, and the end of its session was not seen", node, verdict.At(h.End))
	}
	text := fmt.Sprintf("%s, whose release at %s was not answered", node, verdict.At(h.End))
	x := w.leaks.releases[h]
	if x != nil && x.op.Result == histories.Fail {
		text = fmt.Sprintf("%s, whose release at %s failed (%s)", node, verdict.At(h.End), strings.TrimPrefix(verdict.Because(x.op.Why()), ": "))
	}
	if x == nil || x.repeats == 0 {
		return text + " and not repeated"
	}
	return text + " and was repeated " + words.Times(x.repeats) + " without success"
}

// longest returns the lock, other than one, that a process has waited for longest; "" if none.
func (w *waits) longest(process int, but string) (lock string, since time.Duration) {
	for k, x := range w.waiting {
		if k.Process == process && k.Lock != but && (lock == "" || x.since < since || x.since == since && k.Lock < lock) {
			lock, since = k.Lock, x.since
		}
	}
	return lock, since
}

// leaks holds the operations that may have left a node behind: releases that were not answered
// ok, and of each lock the first acquires that were not granted since a later acquire was.
type leaks struct {
	releases map[*facts.Hold]*unreleased
	last     map[facts.LockUse]*unreleased
	suspects map[*facts.LockInfo][]*facts.Op
}

// unreleased is a release that was not answered ok, with the number of later releases of it.
type unreleased struct {
	op      *facts.Op
	repeats int
}

func newLeaks() *leaks {
	return &leaks{map[*facts.Hold]*unreleased{}, map[facts.LockUse]*unreleased{}, map[*facts.LockInfo][]*facts.Op{}}
}

// completed takes in an operation that was answered.
func (l *leaks) completed(o *facts.Op) {
	k := facts.LockUse{Process: o.Process, Lock: o.Lock, Mode: o.Mode}
	switch {
	case o.Kind == histories.Release && o.OK():
		if x := l.last[k]; x != nil {
			delete(l.releases, x.op.Hold)
			delete(l.last, k)
		}
	case o.Kind == histories.Release:
		if x := l.last[k]; x != nil && (o.Hold == nil || o.Hold == x.op.Hold) {
			x.repeats++
		} else if o.Hold != nil && o.Hold.EndEvent == o.Invoke {
			x := &unreleased{op: o}
			if before := l.last[k]; before != nil {
				delete(l.releases, before.op.Hold)
			}
			l.last[k], l.releases[o.Hold] = x, x
		}
	case o.Acquires() && o.OK():
		if len(l.suspects) == 0 {
			return
		}
		later := func(s *facts.Op) bool { return s.Call < o.Call }
		if all := slices.DeleteFunc(l.suspects[o.Info()], later); len(all) > 0 {
			l.suspects[o.Info()] = all
		} else {
			delete(l.suspects, o.Info())
		}
	case !o.Refused:
		l.suspect(o)
	}
}

// maxSuspects bounds the acquires of one lock that are kept.
const maxSuspects = 8

// suspect takes in an operation that was not answered ok. A try that found the lock taken is
// none.
func (l *leaks) suspect(o *facts.Op) {
	if all := l.suspects[o.Info()]; o.Acquires() && len(all) < maxSuspects {
		l.suspects[o.Info()] = append(all, o)
	}
}
