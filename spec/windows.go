package spec

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
)

// ask is an acquire.
type ask struct {
	process, step int
	granted       bool
	had           bool // it has been granted
	known         bool // the record has a node that it has created
	read          bool
	together      bool    // of several locks
	writer        int64   // from which it downgrades
	window        *window // in which it has created a node, as a slot
	slot          int
}

// splitter splits the steps of one lock.
type splitter struct {
	uses    map[string][]int // processes by session
	steps   []Step
	current *window
	done    []*window
	asks    map[int][]*ask // by process: the last ones
	byNode  map[int64]*ask // as far as the record tells
	asked   map[int]*ask   // by step
	later   map[int64]*ask // by node: an acquire that may be on record later than the node
	readers map[int64]int  // by writer's node: how often it becomes a reader
	grants  map[int64]int  // by node: the step of its last grant
	hands   bool           // nodes are handed on within a client, which is one contender of the model
	size    *line          // of a semaphore: its last change
}

func newSplitter(uses map[string][]int, steps []Step, lock string) *splitter {
	p := &splitter{uses: uses, steps: steps, asks: map[int][]*ask{}, byNode: map[int64]*ask{}, asked: map[int]*ask{}, later: map[int64]*ask{}, readers: map[int64]int{}, grants: map[int64]int{}}
	writers := map[int64]int64{} // by node of a reader
	for _, s := range steps {
		if s.Kind == Create && s.Writer != 0 {
			writers[s.Node] = s.Writer
			p.readers[s.Writer]++
		}
	}
	for i, s := range steps {
		if s.Kind == Grant && s.Lock == lock {
			p.grants[s.Node] = i
			p.hands = p.hands || s.Sub > 0
		}
		if s.Kind != Acquire || s.Lock != lock {
			continue
		}
		a := &ask{process: s.Process, step: i, granted: s.Granted, known: len(s.Nodes) > 0, read: s.Read, together: s.Together}
		p.asked[i] = a
		for _, n := range s.Nodes {
			if p.later[n] == nil {
				p.later[n] = a
			}
			a.writer = cmp.Or(a.writer, writers[n])
		}
	}
	return p
}

// split returns the windows of each lock.
func split(steps []Step) map[string][]*window {
	uses := map[string][]int{}
	for _, s := range steps {
		if s.Kind == Session {
			uses[s.Session] = s.Clients
		}
	}
	locks := map[string]*splitter{}
	for i, s := range steps {
		if s.Kind == End || s.Kind == Over {
			for _, l := range locks {
				l.take(i, s)
			}
			continue
		}
		if s.Lock == "" {
			continue
		}
		l := locks[s.Lock]
		if l == nil {
			l = newSplitter(uses, steps, s.Lock)
			locks[s.Lock] = l
		}
		l.take(i, s)
	}
	all := map[string][]*window{}
	for name, l := range locks {
		if l.current != nil {
			l.done = append(l.done, l.current)
		}
		all[name] = l.done
	}
	return all
}

func (p *splitter) take(i int, s Step) {
	if s.Kind == Acquire {
		all := append(p.asks[s.Process], p.asked[i])
		p.asks[s.Process] = all[max(0, len(all)-remembered):]
		for _, n := range s.Nodes {
			p.byNode[n] = p.asked[i]
		}
		return
	}
	if s.Kind == Resize {
		p.resize(i, s)
		return
	}
	if w := p.current; w != nil && w.beyond != "" && p.divisible() {
		p.cut()
	}
	w := p.current
	if w == nil {
		if s.Kind != Create && s.Kind != Grant {
			return
		}
		w = &window{lock: s.Lock, size: p.size, bits: map[int64]int{}, latest: map[int64]int{}, of: map[int64]int{}, owner: map[int64]string{}, stand: map[int64]bool{}, removed: map[int64]bool{}, late: map[*ask]bool{}, downgrades: map[int64]bool{}}
		if p.current = w; p.size != nil {
			w.add(*p.size)
		}
	}
	p.keep(i, s)
	switch s.Kind {
	case Create:
		p.create(i, s)
	case Delete:
		p.delete(i, s)
	case Take:
		p.grantPermits(i, s)
	case Write:
		if who, there := w.of[s.Node]; there {
			w.add(line{written, who, w.bits[s.Node], w.age(who, s.Session), i})
		}
	case End:
		p.end(i, s)
	case Grant:
		if a := p.byNode[s.Node]; a != nil {
			a.had = true
			if p.grants[s.Node] == i {
				delete(w.late, a)
			}
		}
		who, there := w.of[s.Node]
		switch {
		case there && s.Sub > 0 && p.ofClient(w.owner[s.Node], s.Process):
			if w.slots[who].left {
				w.add(line{passed, who, 1, 0, i})
			}
			w.slots[who].process, w.slots[who].left = s.Process, false
		case !there || w.slots[who].process != s.Process:
			if who = w.slotOf(s.Process); who < 0 {
				who = w.join(s.Process, s.Session)
			}
		}
		w.add(line{granted, who, w.bits[s.Node], min(int(s.Sub), 255), i})
		w.slots[who].believes, w.slots[who].reads, w.slots[who].node, w.slots[who].released = true, s.Read, s.Node, false
	case Loss, Release:
		p.endBelief(i, s)
	case Released:
		if who := w.releaser(s); who >= 0 {
			w.slots[who].released = false
			if node := w.slots[who].last; w.stand[node] && p.endsWithSession(i, node) {
				if w.shared(who) {
					w.tooMuch(severalSessions)
				} else {
					w.slots[who].told = true
				}
			}
			w.add(line{answered, who, 0, 0, i})
		}
	case Over:
		w.add(line{kind: empty, step: i})
	}
	if len(w.stand)+len(w.late) == 0 && !slices.ContainsFunc(w.slots, func(s slot) bool { return s.believes }) {
		p.done, p.current = append(p.done, w), nil
	}
}

// remembered is the number of acquires of a process one of which may have created a node late.
const remembered = 3

func (p *splitter) create(i int, s Step) {
	w := p.current
	a := p.askOf(s)
	if a.together { // a contender for each node
		_, granted := p.grants[s.Node]
		a = &ask{process: a.process, step: a.step, granted: granted, known: true, together: true}
		p.byNode[s.Node] = a
	}
	who, again := a.slot, a.window == w
	if again && p.size != nil && p.byNode[s.Node] == nil && w.stand[w.slots[who].last] {
		w.tooMuch("a node of an acquire that is not known")
	}
	if !again {
		if who = p.free(a.process); who < 0 {
			who = w.join(a.process, s.Session)
		}
		w.slots[who].process = a.process
		a.window, a.slot = w, who
	}
	if w.age(who, s.Session) == stranger {
		w.slots[who].sessions = append(w.slots[who].sessions, s.Session)
		if w.shared(who) {
			w.tooMuch(severalSessions)
		}
		if w.beyond == "" {
			w.slots[who].renewals++
		}
	}
	kind, bit := p.place(s)
	if !again {
		a.writer = cmp.Or(a.writer, s.Writer)
		w.add(line{begun, who, a.what(w), 0, i})
	}
	w.bits[s.Node], w.of[s.Node], w.owner[s.Node], w.stand[s.Node] = bit, who, s.Session, true
	w.slots[who].last = s.Node
	if s.Writer != 0 {
		w.downgrades[s.Node] = true
	}
	w.add(line{kind, who, bit, w.age(who, s.Session), i})
}

// place gives a node its bit, which tells its place in the queue, and returns the kind of its line. A
// writer's is followed by those of the readers that it becomes.
func (p *splitter) place(s Step) (kind, bit int) {
	w := p.current
	if w.latest[s.Writer] != 0 {
		w.latest[s.Writer] <<= 1
		return downgraded, w.latest[s.Writer]
	}
	bit = 1 << min(w.nodes, mostNodes)
	w.latest[s.Node] = bit
	if w.nodes += 1 + p.readers[s.Node]; w.nodes > mostNodes {
		w.tooMuch(fmt.Sprintf("more than %d nodes", mostNodes))
	}
	switch {
	case s.Writer != 0: // which has gone before
		return downgraded, bit
	case s.Read:
		return reader, bit
	}
	return created, bit
}

// what returns the acquire in the form of record.inc.
func (a *ask) what(w *window) int {
	what := w.bits[a.writer] << 2
	if a.granted {
		what |= 1
	}
	if a.read {
		what |= 2
	}
	return what
}

// askOf returns the acquire that has created a node. If the record does not tell, it is one that has
// failed, at best without another node: the last of the session's contenders. Else it is the last one
// without a node in the session.
func (p *splitter) askOf(s Step) *ask {
	if a := cmp.Or(p.byNode[s.Node], p.later[s.Node]); a != nil {
		return a
	}
	var failed, last *ask
	placed := func(a *ask) bool {
		for node, session := range p.current.owner {
			if session == s.Session && p.current.stand[node] && p.byNode[node] == a {
				return true
			}
		}
		return false
	}
	for _, process := range p.uses[s.Session] {
		for _, a := range p.asks[process] {
			if a.read != s.Read {
				continue
			}
			if last == nil || placed(last) && !placed(a) || placed(last) == placed(a) && a.step > last.step {
				last = a
			}
			if !a.granted && a.window != p.current && (failed == nil || failed.known && !a.known || failed.known == a.known && a.step > failed.step) {
				failed = a
			}
		}
	}
	switch {
	case failed != nil:
		return failed
	case last != nil:
		return last
	}
	a := &ask{process: -1 - len(p.asks), read: s.Read, writer: s.Writer} // a client that the record does not know
	p.asks[a.process] = append(p.asks[a.process], a)
	return a
}

// endsWithSession reports whether a node is deleted by the end of its session after a step, and no
// client that asks for a lock after it is granted one in that session. The servers tell of an end that
// a fault forces before they have carried out the last requests of the session, such as a delete.
func (p *splitter) endsWithSession(i int, node int64) bool {
	asked, owner, deleted := map[int]bool{}, p.current.owner[node], false
	for _, s := range p.steps[i:] {
		switch {
		case s.Kind == Acquire:
			asked[s.Process] = true
		case s.Kind == Grant && s.Session == owner && asked[s.Process]:
			return false
		case s.Kind == Delete && s.Node == node && s.Session != owner:
			return false
		case s.Kind == Delete && s.Node == node:
			deleted = true
		case s.Kind == End && s.Session == owner:
			return !deleted || s.Forced
		}
	}
	return false
}

// successor returns a slot that has a session, -1 if there is none.
func (p *splitter) successor(session string) int {
	return slices.IndexFunc(p.current.slots, func(s slot) bool { return slices.Contains(s.sessions, session) })
}

func (p *splitter) delete(i int, s Step) {
	w := p.current
	who, there := w.of[s.Node]
	if !there || !w.stand[s.Node] {
		return
	}
	l := line{deleted, who, w.bits[s.Node], w.age(who, s.Session), i}
	if l.at == stranger {
		l.at = 0
		switch other := p.successor(s.Session); {
		case other >= 0:
			l.who = other
		case len(p.uses[s.Session]) > 0:
			l.who = w.join(p.uses[s.Session][0], s.Session)
		default:
			l = line{others, 0, w.bits[s.Node], 0, i}
			p.removedByOthers(i, s.Node)
		}
	}
	delete(w.stand, s.Node)
	w.add(l)
}

// removedByOthers notes that a node is gone: its waiter, or one to which it is handed on,
// may be granted the lock before it hears of that.
func (p *splitter) removedByOthers(i int, node int64) {
	p.current.removed[node] = true
	if a := p.byNode[node]; a != nil && (a.granted && !a.had || p.grants[node] > i) {
		p.current.late[a] = true
	}
}

func (p *splitter) end(i int, s Step) {
	w := p.current
	who := slices.IndexFunc(w.slots, func(l slot) bool { return slices.Contains(l.sessions, s.Session) })
	if who < 0 {
		return
	}
	for _, node := range slices.Sorted(maps.Keys(w.owner)) {
		if w.owner[node] != s.Session || !w.stand[node] {
			continue
		}
		delete(w.stand, node)
		if s.Forced { // the model has others delete nodes, but not end sessions
			p.removedByOthers(i, node)
			w.add(line{others, 0, w.bits[node], 0, i})
		}
	}
	if s.Forced {
		return
	}
	w.add(line{ended, who, 0, w.age(who, s.Session), i})
}
