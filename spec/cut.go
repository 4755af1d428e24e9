package spec

import "slices"

// kept is a step in a window, and the node that it is about; 0 for a change of a semaphore's size.
type kept struct {
	step int
	node int64
}

// keep adds a step to those from which a window can go on. It is called before the step is taken.
func (p *splitter) keep(i int, s Step) {
	w, node := p.current, s.Node
	switch s.Kind {
	case Create, Grant, Resize, Take:
	case Loss, Release:
		who := w.believer(s)
		if who < 0 {
			return
		}
		node = w.slots[who].node
	case Released:
		who := w.releaser(s)
		if who < 0 {
			return
		}
		node = w.slots[who].last
	default: // nothing stays of a write, nor of what is deleted
		return
	}
	w.kept = append(w.kept, kept{i, node})
}

// believer returns the slot of the process of a step whose belief a loss or release ends, -1 if there is none.
func (w *window) believer(s Step) int {
	return slices.IndexFunc(w.slots, func(l slot) bool { return l.process == s.Process && l.believes && l.reads == s.Read })
}

// releaser returns the slot of the process of a step that has not been told of the end of its release, or -1.
func (w *window) releaser(s Step) int {
	return slices.IndexFunc(w.slots, func(l slot) bool { return l.process == s.Process && l.released && l.reads == s.Read })
}

// mostKept is the number of nodes that may stand where a window is cut.
const mostKept = 10

// divisible reports whether the steps that a window has kept of the nodes that stand are enough to go on:
// each is the only one of its process, in the last session of that, and no belief is of another node.
func (p *splitter) divisible() bool {
	w := p.current
	if p.hands || len(w.late) > 0 || len(w.stand) > mostKept {
		return false
	}
	processes := map[int]bool{}
	for node := range w.stand {
		of := &w.slots[w.of[node]]
		if processes[of.process] || w.downgrades[node] || p.byNode[node] == nil {
			return false
		}
		if w.slots[of.session].told || w.owner[node] != of.sessions[len(of.sessions)-1] {
			return false
		}
		processes[of.process] = true
	}
	for _, s := range w.slots {
		if s.believes && !w.stand[s.node] || s.left {
			return false
		}
	}
	return true
}

// cut ends a window of which the model cannot do all, and begins another with the steps of the nodes that
// stand: a contender that has heard of all that is gone.
func (p *splitter) cut() {
	old, size := p.current, p.size
	p.done, p.current, p.size = append(p.done, old), nil, old.size
	for _, t := range old.kept {
		s := p.steps[t.step]
		if s.Kind == Take {
			s.Nodes = slices.DeleteFunc(slices.Clone(s.Nodes), func(n int64) bool { return !old.stand[n] })
		}
		if s.Kind == Resize || len(s.Nodes) > 0 || old.stand[t.node] {
			p.take(t.step, s)
		}
	}
	p.size = size
	if p.current != nil {
		p.current.again = len(p.current.lines)
	}
}
