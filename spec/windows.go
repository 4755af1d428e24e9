package spec

import (
	"fmt"
	"slices"
)

// The most that the model takes in one window.
const (
	mostNodes = 29 // a node is a bit
	mostSlots = 12
	mostLines = 4000
)

// window is a part of the record of a lock. Before it and after it no node stands and no client
// believes that it holds the lock, so windows do not depend on each other.
type window struct {
	slots   []slot
	lines   []line
	beyond  string // why the model cannot speak of it, or ""
	nodes   int
	bits    map[int64]int    // by node
	of      map[int64]int    // the slot of each node
	owner   map[int64]string // its session
	stand   map[int64]bool
	removed map[int64]bool
}

// slot is a contender of the model: a process of a client, and its sessions one after the other.
type slot struct {
	process  int
	sessions []string
	session  int // the contender's session in the model: the first slot with it
	believes bool
	node     int64 // of the belief
	released bool  // the belief has ended by a release
	standing int64 // its last node
}

// line is a step in the words of the model.
type line struct {
	kind, who, what, at int
	step                int // index in the record
}

// The numbers of the kinds in mutex.pml.
const (
	begun = 1 + iota
	created
	deleted
	written
	granted
	loss
	releasing
	answered
	ended
	others
	empty
)

// splitter splits the steps of one lock.
type splitter struct {
	uses    map[string][]int // processes by session
	steps   []Step
	current *window
	done    []*window
	asked   map[int]bool // by process: the outcome of its open acquire
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
			l = &splitter{uses: uses, steps: steps, asked: map[int]bool{}}
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
		p.asked[s.Process] = s.Granted
		return
	}
	w := p.current
	if w == nil {
		if s.Kind != Create && s.Kind != Grant {
			return
		}
		w = &window{bits: map[int64]int{}, of: map[int64]int{}, owner: map[int64]string{}, stand: map[int64]bool{}, removed: map[int64]bool{}}
		p.current = w
	}
	switch s.Kind {
	case Create:
		p.create(i, s)
	case Delete:
		p.delete(i, s)
	case Write:
		if who, there := w.of[s.Node]; there {
			w.add(line{written, who, w.bits[s.Node], w.age(who, s.Session), i})
		}
	case End:
		w.end(i, s)
	case Grant:
		who := w.slotOf(s.Process)
		if who < 0 {
			who = w.join(s.Process, s.Session)
		}
		w.add(line{granted, who, w.bits[s.Node], 0, i})
		w.slots[who].believes, w.slots[who].node, w.slots[who].released = true, s.Node, false
	case Loss, Release:
		w.endBelief(i, s)
	case Released:
		if who := w.slotOf(s.Process); who >= 0 && w.slots[who].released {
			w.slots[who].released = false
			w.add(line{answered, who, 0, 0, i})
		}
	case Over:
		w.add(line{kind: empty, step: i})
	}
	if len(w.stand) == 0 && !slices.ContainsFunc(w.slots, func(s slot) bool { return s.believes }) {
		p.done, p.current = append(p.done, w), nil
	}
}

func (w *window) add(l line) {
	w.lines = append(w.lines, l)
	if len(w.lines) > mostLines {
		w.tooMuch(fmt.Sprintf("it has more than %d steps", mostLines))
	}
}

func (w *window) tooMuch(why string) {
	if w.beyond == "" {
		w.beyond = why
	}
}

// slotOf returns the last slot of a process, -1 if there is none.
func (w *window) slotOf(process int) int {
	for i := len(w.slots) - 1; i >= 0; i-- {
		if w.slots[i].process == process {
			return i
		}
	}
	return -1
}

// join adds a slot.
func (w *window) join(process int, session string) int {
	n := len(w.slots)
	s := slot{process: process, sessions: []string{session}, session: n}
	for i := range w.slots {
		if slices.Contains(w.slots[i].sessions, session) {
			s.session = w.slots[i].session
			break
		}
	}
	w.slots = append(w.slots, s)
	if len(w.slots) > mostSlots {
		w.tooMuch(fmt.Sprintf("it has more than %d clients", mostSlots))
	}
	return n
}

// age returns the number of a session among those of a slot, 255 for a stranger.
func (w *window) age(who int, session string) int {
	if n := slices.Index(w.slots[who].sessions, session); n >= 0 {
		return n
	}
	return 255
}

// shared reports whether another slot has the session of one.
func (w *window) shared(who int) bool {
	for i := range w.slots {
		if i != who && w.slots[i].session == w.slots[who].session {
			return true
		}
	}
	return false
}

func (p *splitter) create(i int, s Step) {
	w := p.current
	process := s.Process
	if process < 0 {
		process = p.contender(s.Session)
	}
	who := w.slotOf(process)
	if who >= 0 {
		if w.stand[w.slots[who].standing] && w.age(who, s.Session) == len(w.slots[who].sessions)-1 {
			if _, again := p.asked[process]; again {
				who = -1 // the node of an earlier acquire is still there
			}
		}
	}
	if who < 0 {
		who = w.join(process, s.Session)
	}
	if w.age(who, s.Session) == 255 {
		w.slots[who].sessions = append(w.slots[who].sessions, s.Session)
		if w.shared(who) {
			w.tooMuch("contenders of one session get another session")
		}
	}
	if outcome, asks := p.asked[process]; asks || w.slots[who].standing == 0 {
		what := 0
		if outcome {
			what = 1
		}
		w.add(line{begun, who, what, 0, i})
		delete(p.asked, process)
	}
	w.bits[s.Node], w.of[s.Node], w.owner[s.Node], w.stand[s.Node] = 1<<w.nodes, who, s.Session, true
	w.nodes++
	w.slots[who].standing = s.Node
	if w.nodes > mostNodes {
		w.tooMuch(fmt.Sprintf("it has more than %d nodes", mostNodes))
	}
	w.add(line{created, who, w.bits[s.Node], w.age(who, s.Session), i})
}

// contender returns the process that has most likely created a node of a session.
func (p *splitter) contender(session string) int {
	last, asking := -1, 0
	for _, process := range p.uses[session] {
		if _, asks := p.asked[process]; asks {
			last = process
			asking++
		} else if asking == 0 && (p.current.slotOf(process) >= 0 || last < 0) {
			last = process
		}
	}
	if asking > 1 {
		p.current.tooMuch("it is not known which contender of a session has created a node")
	}
	return last
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
	if l.at == 255 {
		l.at = 0
		switch other := p.successor(s.Session); {
		case other >= 0:
			l.who = other
		case len(p.uses[s.Session]) > 0:
			l.who = w.join(p.uses[s.Session][0], s.Session)
		default:
			l = line{others, 0, w.bits[s.Node], 0, i}
			w.removed[s.Node] = true
		}
	}
	delete(w.stand, s.Node)
	w.add(l)
}

func (w *window) end(i int, s Step) {
	who := slices.IndexFunc(w.slots, func(l slot) bool { return slices.Contains(l.sessions, s.Session) })
	if who < 0 {
		return
	}
	if w.shared(who) {
		w.tooMuch("the session of several contenders ends")
	}
	for node, owner := range w.owner {
		if owner == s.Session {
			delete(w.stand, node)
		}
	}
	w.add(line{ended, who, 0, w.age(who, s.Session), i})
}

func (w *window) endBelief(i int, s Step) {
	who := w.slotOf(s.Process)
	if who < 0 || !w.slots[who].believes {
		return
	}
	b := &w.slots[who]
	b.believes = false
	// The model's holder whose node others have deleted learns it when it leaves.
	if s.Kind == Loss && !w.removed[b.node] {
		if w.shared(who) {
			w.tooMuch("a session of several contenders loses the lock")
		}
		w.add(line{loss, who, 0, 0, i})
		return
	}
	b.released = s.Kind == Release
	w.add(line{releasing, who, 0, 0, i})
}
