package spec

import "slices"

// ofClient reports whether a process uses a session.
func (p *splitter) ofClient(session string, process int) bool {
	return slices.Contains(p.uses[session], process)
}

// free returns the slot of a process, or of its client, in which another acquire can begin, -1 if
// there is none.
func (p *splitter) free(process int) int {
	w := p.current
	return slices.IndexFunc(w.slots, func(s slot) bool {
		if p.hands && s.released || s.believes || w.stand[s.last] {
			return false
		}
		return s.process == process || p.hands && p.ofClient(s.sessions[len(s.sessions)-1], process)
	})
}

// endBelief takes a loss or a release.
func (p *splitter) endBelief(i int, s Step) {
	w := p.current
	who := w.believer(s)
	if who < 0 {
		return
	}
	b := &w.slots[who]
	again := 0 // 1 if its node will be granted again
	if p.grants[b.node] > i {
		again = 1
	}
	if b.left = s.Left && again == 1; b.left {
		return
	}
	b.believes = false
	switch {
	case s.Kind == Release && (again == 1 || p.hands && p.givenUp(i, s.Process, b.node)):
		w.add(line{passed, who, again, 0, i})
	// The model's holder whose node others have deleted learns it when it leaves.
	case s.Kind == Loss && !w.removed[b.node]:
		w.add(line{loss, who, 0, 0, i})
	default:
		b.released = s.Kind == Release
		w.add(line{releasing, who, 0, 0, i})
	}
}

// givenUp reports whether the process that releases a node in a step may have handed it on to one that gave
// it up: it is told that it has released while the node stands, and another process of its client has asked.
func (p *splitter) givenUp(i int, process int, node int64) bool {
	owner := p.current.owner[node]
	asks := map[int]bool{}
	for at, s := range p.steps {
		switch {
		case s.Kind == Acquire && s.Lock == p.current.lock && s.Process != process && p.ofClient(owner, s.Process):
			asks[s.Process] = true
		case s.Kind == Grant && s.Lock == p.current.lock && at < i:
			delete(asks, s.Process)
		case at > i && (s.Kind == Delete && s.Node == node || s.Kind == End && s.Session == owner):
			return false
		case at > i && s.Kind == Released && s.Lock == p.current.lock && s.Process == process:
			return len(asks) > 0
		}
	}
	return false
}
