package states

import (
	"cmp"
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// Tracker follows the states and holds of processes, in memory that grows with the number
// of open operations and holds. One goroutine at a time may use it.
type Tracker struct {
	header    *histories.Header
	processes map[int]*process // those that have invoked an operation, and are not retired
	held      map[string]list  // by lock
	crowds    map[string]crowd // of the locks that have many holds
	began     int              // the number of holds that have begun
	lostNow   int              // the number of current holds that were reported lost
	changes   []Change         // by the last event
	only      [1]histories.Part
}

// process is the state of one process.
type process struct {
	holds     list
	holding   []leases         // that are not lost, by recipe
	recipe    histories.Recipe // of the operation under way
	operation State            // the state that the operation puts the process in; "" if none
	lost      int              // the number of its holds that were reported lost
	places    []histories.Part // in queues, as its acquire has reported them: the last one for a lock counts
	queues    int              // the number of locks among places when it was last counted
}

// leases is a number of leases of one recipe.
type leases struct {
	recipe histories.Recipe
	n      int
}

// NewTracker returns a tracker of a history with this header, before its first event.
func NewTracker(header *histories.Header) *Tracker {
	return &Tracker{header: header, processes: map[int]*process{}, held: map[string]list{}, crowds: map[string]crowd{}}
}

// Step adds the next event, and returns the changes of holds by it, which are valid until
// the next step. It keeps no reference to e.
func (t *Tracker) Step(e *histories.Event) []Change {
	t.changes = t.changes[:0]
	p := t.processes[e.Process]
	if p == nil {
		if e.Type != histories.Invoke {
			return nil
		}
		p = &process{}
		t.processes[e.Process] = p
	}
	switch e.Type {
	case histories.Invoke:
		t.invoked(p, e)
	case histories.Enqueued:
		if p.operation == Enqueuing || p.operation == Waiting {
			p.operation = Waiting
			p.places = append(p.places, histories.Part{Lock: e.Lock, Token: e.Token})
			if len(p.places) > 2*p.queues+8 {
				p.places = latest(p.places)
				p.queues = len(p.places)
			}
		}
	case histories.OK:
		t.succeeded(p, e)
	case histories.Fail:
		p.operation = ""
	case histories.Lost:
		t.lost(e)
	case histories.Closing, histories.Crash:
		for h := range p.holds.All() {
			t.end(h)
		}
	}
	if e.Type == histories.Crash || e.Type == histories.Info {
		t.retire(e.Process, p)
	}
	return t.changes
}

func acquires(e *histories.Event) bool {
	return e.Op == histories.Acquire || e.Op == histories.TryAcquire
}

func (t *Tracker) invoked(p *process, e *histories.Event) {
	locks := t.locksOf(e)
	p.operation, p.recipe, p.places, p.queues = "", t.header.RecipeOf(locks[0].Lock), nil, 0
	switch {
	case acquires(e):
		p.operation = Enqueuing
		for _, l := range locks {
			if t.reentered(l.Lock, e) != nil {
				p.operation = "" // the process stays a holder
			}
			// The process no longer acts on a lock that it lost.
			if p.lost > 0 {
				t.endAll(l.Lock, e.Process, func(h *Hold) bool { return h.Lost })
			}
		}
	case e.Op == histories.Wait, e.Op == histories.Enter:
		p.operation = Waiting
	case e.Op == histories.Leave:
		p.operation = Releasing
		t.endAll(e.Lock, e.Process, func(*Hold) bool { return true })
	case e.Op == histories.Release:
		for _, l := range locks {
			t.releasing(p, l, e)
		}
	}
}

// releasing notes the invocation of a release: of the outermost level, unless the depth
// names another. From then on the owner does not act as a holder, even if the release
// fails.
func (t *Tracker) releasing(p *process, l histories.Part, e *histories.Event) {
	h := t.find(l, e)
	switch {
	case h != nil && h.Inner > 0 && e.Depth != 1:
		h.Inner--
		t.changes = append(t.changes, Change{h, Inner})
		return
	case e.Depth <= 1:
		p.operation = Releasing
	case h == nil || !h.Lost:
		return
	}
	if h != nil {
		t.end(h)
	}
}

func (t *Tracker) succeeded(p *process, e *histories.Event) {
	p.operation = ""
	if !acquires(e) && e.Op != histories.Enter {
		return
	}
	for i, l := range t.locksOf(e) {
		recipe := t.header.RecipeOf(l.Lock)
		if h := t.reentered(l.Lock, e); h != nil {
			h.Inner++
			t.changes = append(t.changes, Change{h, Again})
			continue
		}
		if e.Depth > 1 && t.lostNow > 0 && t.lostIt(l.Lock, e) {
			continue // the hold was lost while it was acquired again
		}
		h := &Hold{
			Process: e.Process, Lock: l.Lock, Recipe: recipe, Mode: e.Mode, Owner: e.Owner, Session: e.Session, Token: l.Token,
			Permits: max(e.Permits, 1), Part: i, number: t.began,
		}
		t.began++
		p.holds.Add(&h.links[ofProcess], h)
		t.locked(h)
		p.counts(h, 1)
		t.changes = append(t.changes, Change{h, Began})
	}
}

// counts adds n to the number of the process's leases.
func (p *process) counts(h *Hold, n int) {
	if h.Part > 0 {
		return
	}
	i, known := slices.BinarySearchFunc(p.holding, h.Recipe, func(l leases, r histories.Recipe) int { return cmp.Compare(l.recipe, r) })
	if !known {
		p.holding = slices.Insert(p.holding, i, leases{recipe: h.Recipe})
	}
	p.holding[i].n += n
}

// lostIt reports whether the owner in an acquire event has lost a hold of the lock.
func (t *Tracker) lostIt(lock string, e *histories.Event) bool {
	return t.oldest(lock, e, histories.Token{}, func(h *Hold) bool { return h.Lost && h.isOf(e, histories.Token{}) }) != nil
}

// reentered returns the hold of the lock that the owner in an acquire event has already. It
// returns nil if there is none, or if each acquire of the recipe has a hold of its own.
func (t *Tracker) reentered(lock string, e *histories.Event) *Hold {
	if t.header.RecipeOf(lock).HasPermits() {
		return nil
	}
	return t.oldest(lock, e, histories.Token{}, func(h *Hold) bool { return !h.Lost && h.isOf(e, histories.Token{}) })
}

// find returns the hold of a lock that an event of its owner is about: the hold with the
// event's token, if it names one, else the oldest hold of as many permits.
func (t *Tracker) find(l histories.Part, e *histories.Event) *Hold {
	return t.oldest(l.Lock, e, l.Token, func(h *Hold) bool {
		told := l.Token != (histories.Token{}) && h.Token != (histories.Token{})
		return h.isOf(e, l.Token) && (told || !h.Recipe.HasPermits() || h.Permits == max(e.Permits, 1))
	})
}

// About returns the holds that an event of their holder is about: the holds of the event's
// locks and session, or of all locks if it names none.
func (t *Tracker) About(e *histories.Event) (all []*Hold) {
	p := t.processes[e.Process]
	if p == nil {
		return nil
	}
	otherSession := func(h *Hold) bool { return e.Session != "" && h.Session != "" && e.Session != h.Session }
	locks := t.locksOf(e)
	if locks[0].Lock == "" {
		for h := range p.holds.All() {
			if !otherSession(h) {
				all = append(all, h)
			}
		}
		return all
	}
	for _, l := range locks {
		a, b := t.mine(l.Lock, e)
		for _, holds := range []list{a, b} {
			for h := range holds.All() {
				if h.Process == e.Process && !otherSession(h) && h.isOf(e, l.Token) {
					all = append(all, h)
				}
			}
		}
	}
	slices.SortFunc(all, func(a, b *Hold) int { return a.number - b.number })
	return all
}

func (t *Tracker) lost(e *histories.Event) {
	for _, h := range t.About(e) {
		if !h.Lost {
			t.processes[h.Process].counts(h, -1)
			t.processes[h.Process].lost++
			t.lostNow++
			h.Lost, h.Inner = true, 0
			t.changes = append(t.changes, Change{h, Lost})
		}
	}
}

// end removes a hold: its process no longer holds the lock.
func (t *Tracker) end(h *Hold) {
	if p := t.processes[h.Process]; p != nil {
		p.holds.Remove(&h.links[ofProcess])
		if h.Lost {
			p.lost--
			t.lostNow--
		} else {
			p.counts(h, -1)
		}
	}
	t.unlock(h)
	t.changes = append(t.changes, Change{h, Ended})
}

func (t *Tracker) endAll(lock string, process int, which func(*Hold) bool) {
	for h := range t.by(process, lock).All() {
		if h.Process == process && which(h) {
			t.end(h)
		}
	}
}

// retire removes a process whose number is not used again. Its holds, whose ends are not
// known, are removed with it.
func (t *Tracker) retire(number int, p *process) {
	delete(t.processes, number)
	for h := range p.holds.All() {
		t.unlock(h)
	}
	t.lostNow -= p.lost
}

// Doing returns the states of a process: Holding for each lease that it holds, and the
// state of its open operation. It returns none for an idle process.
func (t *Tracker) Doing(process int) (all []Doing) {
	p := t.processes[process]
	if p == nil {
		return nil
	}
	for h := range p.holds.All() {
		if h.Part == 0 && !h.Lost {
			all = append(all, Doing{h.Recipe, Holding})
		}
	}
	if p.operation != "" {
		all = append(all, Doing{p.recipe, p.operation})
	}
	return all
}

// kinds returns the same states as Doing, each of them once. The order is the same for the
// same states.
func (t *Tracker) kinds(process int) (all []Doing) {
	p := t.processes[process]
	if p == nil {
		return nil
	}
	for _, l := range p.holding {
		if l.n > 0 {
			all = append(all, Doing{l.recipe, Holding})
		}
	}
	if p.operation != "" {
		all = append(all, Doing{p.recipe, p.operation})
	}
	return all
}

// Everything returns the states of all processes.
func (t *Tracker) Everything() (all []Doing) {
	for process := range t.processes {
		all = append(all, t.Doing(process)...)
	}
	return all
}

// Places returns the locks in whose queues a process waits, and the tokens of its places there.
func (t *Tracker) Places(process int) []histories.Part {
	if p := t.processes[process]; p != nil && p.operation == Waiting {
		return latest(p.places)
	}
	return nil
}

// latest returns the last place reported for each lock, in the order of the reports.
func latest(places []histories.Part) []histories.Part {
	last := make(map[string]int, len(places))
	for i, x := range places {
		last[x.Lock] = i
	}
	var all []histories.Part
	for i, x := range places {
		if last[x.Lock] == i {
			all = append(all, x)
		}
	}
	return all
}
