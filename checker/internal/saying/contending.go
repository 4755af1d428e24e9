package saying

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// contentions judges what observers are told of the acquires of a process, from the first such notice on,
// and of requests to release: processes of several targets may take part.
//
//   - An acquire that returns a new lease was told to contend, and not to give up. A re-entry was
//     told neither.
//   - An acquire that fails was told to give up as often as to contend, with an error that its own
//     contains. One of several locks may have been granted some of them, and given these
//     back; also one that goes on, if it waits for a lock when it holds the others.
//   - For each time that an acquire was told to contend, and not to give up, observers are told of
//     one lease of its owner.
//   - A request to release was invoked before observers are told of it, and they are told of it
//     before a listener is.
type contentions struct {
	s        *sayings
	of       map[*facts.Op]contention // acquires under way
	ledgers  map[*facts.Process]map[string]*ledger
	owners   map[string]*facts.Process
	told     map[*facts.Process]bool // processes of whose acquires an observer was told
	named    bool                    // a notice of a grant named an owner
	requests map[facts.LeaseKey]*request
}

// contention counts the notices about an acquire.
type contention struct {
	unheard          bool // the notices are not on record
	contends, gaveUp int
	error            string // of the last that it gave up
}

// ledger balances the acquires of a process on one lock with the grants of which observers are told.
// These come later, or while the acquire is under way.
type ledger struct {
	owed  map[histories.Token][]*facts.Op // acquires without a notice of their grant, by token
	gave  []*facts.Op                     // acquires of several locks that failed, perhaps after a grant
	early int                             // notices of the acquire under way
	// unheard are the tokens of acquires whose notices are not on record, without the notice of the grant;
	// before are those with that notice of an acquire under way.
	unheard, before map[histories.Token]int
}

// request counts the notices of requests to release a lease.
type request struct {
	told, heard int // by observers, by listeners
}

// rest returns the acquires without a notice of their grant, in their order.
func (l *ledger) rest() []*facts.Op {
	all := slices.Concat(slices.Collect(maps.Values(l.owed))...)
	return slices.SortedFunc(slices.Values(append(all, l.gave...)), func(a, b *facts.Op) int { return cmp.Compare(a.Invoke, b.Invoke) })
}

func newContentions(s *sayings) contentions {
	return contentions{
		s: s, told: map[*facts.Process]bool{}, of: map[*facts.Op]contention{}, ledgers: map[*facts.Process]map[string]*ledger{},
		owners: map[string]*facts.Process{}, requests: map[facts.LeaseKey]*request{},
	}
}

// tell takes in a notice of an acquire or of a request to release.
func (c *contentions) tell(i int, e *histories.Event) {
	c.s.notifications++
	p := c.s.party(i, e, nil)
	if e.Saying.Told == histories.ToldRevokeRequested {
		r := c.requests[facts.LeaseKey{Lock: e.Lock, Token: e.Token}]
		if r == nil {
			c.s.wrong(p, e.Lock, fmt.Sprintf("an observer was told at %s that the lease of %v on lock %q with token %s is asked for, and no client had asked for it", verdict.At(e.Time), p, e.Lock, verdict.Token(e.Token)))
			return
		}
		r.told++
		return
	}
	by := c.s.t.Process(e.Process)
	if e.Saying.Told != histories.ToldUnheard {
		c.told[by] = true
	}
	for _, o := range by.OpenOn(e.Lock) {
		if !o.Acquires() {
			continue
		}
		c.owners[o.Owner] = by
		n := c.of[o]
		if e.Saying.Told == histories.ToldUnheard {
			n.unheard = true
		} else if e.Saying.Told == histories.ToldAcquiring {
			n.contends++
		} else if n.gaveUp++; n.gaveUp > n.contends {
			c.wrong(o, fmt.Sprintf("was told at %s that it gave up, %d times, and that it contends, %d times", verdict.At(e.Time), n.gaveUp, n.contends))
		} else {
			n.error = e.Error
		}
		c.of[o] = n
		return
	}
	c.s.wrong(p, e.Lock, fmt.Sprintf("an observer was told at %s, %q, of an acquire of %v on lock %q, which had none under way", verdict.At(e.Time), e.Saying.Told, p, e.Lock))
}

// wrong reports a violation by the notices of an acquire.
func (c *contentions) wrong(o *facts.Op, what string) {
	c.s.v.Violate(func() verdict.Witness {
		w := judge.NewWitness(c.s.t, o.Lock, o.Call, min(o.Ret, c.s.t.End), judge.OpParty(o))
		w.What = fmt.Sprintf("the observer of the acquire of %v on lock %q %s", judge.OpParty(o), o.Lock, what)
		return w
	})
}

// ended judges the notices of an acquire that was answered.
func (c *contentions) ended(o *facts.Op) {
	n := c.of[o]
	delete(c.of, o)
	switch {
	case n.unheard:
		l := c.ledger(o.By, o.Lock)
		if o.OK() && !take(l.before, o.Token) {
			l.unheard[o.Token]++
		}
		return
	case !c.told[o.By]:
		return
	}
	fresh, left := o.OK() && o.Hold != nil && o.Hold.Acquire == o, n.contends-n.gaveUp
	switch {
	case fresh && n.gaveUp > 0 && (!o.Mixed || left == 0):
		c.wrong(o, "was told that it gave up, and it returned a lease")
	case fresh && n.contends == 0:
		c.wrong(o, "was not told that it contends, and it returned a new lease")
	case o.OK() && !fresh && n.contends > 0:
		c.wrong(o, "was told that it contends, and it was a re-entry")
	case len(o.Places) > 0 && n.contends == 0:
		c.wrong(o, "was not told that it contends, and it had a place in the queue")
	case n.contends > 1 && o.Parts == 0:
		c.wrong(o, fmt.Sprintf("was told %d times that it contends", n.contends))
	case o.Result == histories.Fail && left > 0 && o.Parts == 0:
		c.wrong(o, "was told that it contends and not that it gave up, and it returned no lease")
		left = 0
	case o.Result == histories.Fail && n.gaveUp > 0 && !o.Mixed && !strings.Contains(o.Why(), n.error):
		c.wrong(o, fmt.Sprintf("was told that it gave up because of %q, and it returned %q", n.error, o.Why()))
	}
	l := c.ledgers[o.By][o.Lock]
	if l == nil && left <= 0 {
		return
	}
	l = c.ledger(o.By, o.Lock)
	for ; left > 0; left-- {
		if l.early > 0 {
			l.early--
		} else if o.OK() && left == 1 {
			l.owed[o.Token] = append(l.owed[o.Token], o)
		} else {
			l.gave = append(l.gave, o)
		}
	}
	if l.early > 0 {
		c.wrong(o, "was told that it was granted, and that it gave up")
	}
	if l.early = 0; len(l.owed) == 0 && len(l.gave) == 0 && len(l.unheard) == 0 {
		delete(c.ledgers[o.By], o.Lock)
	}
}

func (c *contentions) ledger(p *facts.Process, lock string) *ledger {
	if c.ledgers[p] == nil {
		c.ledgers[p] = map[string]*ledger{}
	}
	l := c.ledgers[p][lock]
	if l == nil {
		l = &ledger{owed: map[histories.Token][]*facts.Op{}, unheard: map[histories.Token]int{}, before: map[histories.Token]int{}}
		c.ledgers[p][lock] = l
	}
	return l
}

// granted takes in a notice that an owner was granted a lease.
func (c *contentions) granted(i int, e *histories.Event) {
	p := c.owners[e.Owner]
	if p == nil || p.Gone() {
		return // what it was told before may not be on record
	}
	c.named = true
	l := c.ledger(p, e.Lock)
	switch owed := l.owed[e.Token]; {
	case len(owed) > 1:
		l.owed[e.Token] = owed[1:]
		return
	case len(owed) == 1:
		delete(l.owed, e.Token)
		return
	case len(l.gave) > 0:
		l.gave = l.gave[1:]
		return
	case take(l.unheard, e.Token):
		return
	}
	l.early++
	for _, o := range p.OpenOn(e.Lock) {
		if n := c.of[o]; l.early <= n.contends-n.gaveUp {
			return
		}
	}
	l.early--
	if slices.ContainsFunc(p.OpenOn(e.Lock), func(o *facts.Op) bool { return c.of[o].unheard }) {
		l.before[e.Token]++
		return
	}
	c.s.wrong(c.s.party(i, e, nil), e.Lock, fmt.Sprintf("an observer was told by %s that the lease with token %s on lock %q was acquired by owner %q, of which no acquire without a lease was told to contend for it", verdict.At(e.Time), verdict.Token(e.Token), e.Lock, e.Owner))
}

// take takes one away of a token, and reports whether it was there.
func take(from map[histories.Token]int, token histories.Token) bool {
	n := from[token]
	if from[token]--; n <= 1 {
		delete(from, token)
	}
	return n > 0
}

// crashed drops the acquires of a process: of their ends no observer may be told.
func (c *contentions) crashed(p *facts.Process) {
	for _, o := range p.Open {
		delete(c.of, o)
	}
	delete(c.ledgers, p)
}

// asked takes in a request to release a lease.
func (c *contentions) asked(o *facts.Op) {
	k := facts.LeaseKey{Lock: o.Lock, Token: o.Token}
	if c.requests[k] == nil {
		c.requests[k] = new(request)
	}
}

// heard takes in a notice of a request to a listener.
func (c *contentions) heard(i int, e *histories.Event) {
	r := c.requests[facts.LeaseKey{Lock: e.Lock, Token: e.Token}]
	if r == nil {
		return // a listener is told what no client asked for: see Revocation
	}
	if r.heard++; c.told[c.s.t.Process(e.Process)] && r.heard > r.told {
		r.told = r.heard // so that it is reported once
		e := *e
		e.Saying = &histories.Saying{Asked: e.Time}
		p := c.s.party(i, &e, nil)
		c.s.wrong(p, e.Lock, fmt.Sprintf("a listener of %v was told at %s that the lease on lock %q with token %s is asked for, and no observer was told before", p, verdict.At(e.Time), e.Lock, verdict.Token(e.Token)))
	}
}

// conclude judges, at the end, the acquires of whose end observers were never told, though they were
// told of grants of later acquires of the same process.
func (c *contentions) conclude() {
	for _, p := range c.s.t.Processes {
		if p.Gone() || !c.named {
			continue
		}
		since := c.s.unsaidOf(p).since
		for _, lock := range slices.Sorted(maps.Keys(c.ledgers[p])) {
			for _, o := range c.ledgers[p][lock].rest() {
				said := c.s.leases[facts.LeaseKey{Lock: lock, Token: o.Token}]
				if o.Ret >= since || o.OK() && said != nil && said.acquired == 0 {
					continue // they may still be told, or untold has reported it
				}
				c.wrong(o, "was told that an acquire contends, and of one of these neither that it was granted the lock nor that it gave up")
			}
		}
	}
}
