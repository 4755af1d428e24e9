package facts

import (
	"cmp"
	"iter"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// timeline holds faults in the order in which they began, and finds those in force at some time
// without visiting the others.
type timeline struct {
	all []*Fault
	// latest[k][i] is the latest stop of the 1<<k faults from i<<k on.
	latest [][]time.Duration
}

func (l *timeline) add(f *Fault) {
	l.all = append(l.all, f)
	l.stops(len(l.all) - 1)
}

// stops updates latest with the stop of fault i.
func (l *timeline) stops(i int) {
	last := len(l.all) - 1
	for k := 0; ; k++ {
		if k == len(l.latest) {
			l.latest = append(l.latest, nil)
		}
		for len(l.latest[k]) <= last>>k {
			l.latest[k] = append(l.latest[k], 0)
		}
		at := l.all[i].Stop
		if k > 0 {
			at = l.latest[k-1][i>>k<<1]
			if j := i>>k<<1 + 1; j < len(l.latest[k-1]) {
				at = max(at, l.latest[k-1][j])
			}
		}
		if l.latest[k][i>>k] = at; last>>k == 0 {
			return
		}
	}
}

// next returns the first fault from i on that stops at a time or later, len(l.all) if there is
// none.
func (l *timeline) next(i int, at time.Duration) int {
	for i < len(l.all) && l.latest[0][i] < at {
		k := 0
		for i&(1<<(k+1)-1) == 0 && k+1 < len(l.latest) && l.latest[k+1][i>>(k+1)] < at {
			k++
		}
		i += 1 << k
	}
	return min(i, len(l.all))
}

// target is a thing that faults may hit.
type target struct {
	kind targetKind
	n    int    // the number of a client
	name string // the name of a session, or of a lock
}

type targetKind byte

const (
	anything  targetKind = iota // the target of every fault
	everybody                   // the target of faults that name no process
	aClient
	aSession   // which a fault forces to expire
	aLock      // of which a fault deletes a node
	someServer // the target of faults that hit servers, and name processes
)

// targets returns the targets of a fault. Processes of one client are one target: see Reaches.
func (l *FaultLog) targets(f *Fault) []target {
	all := []target{{kind: anything}}
	if len(f.Processes) == 0 {
		all = append(all, target{kind: everybody})
	} else if f.OnServers() {
		all = append(all, target{kind: someServer})
	}
	seen := map[int]bool{}
	for _, p := range f.Processes {
		if c := l.client(p); !seen[c.n] {
			seen[c.n] = true
			all = append(all, c)
		}
	}
	switch f.Name {
	case histories.ForcedExpiry:
		all = append(all, target{kind: aSession, name: f.Params["session"]})
	case histories.NodeDeletion:
		all = append(all, target{kind: aLock, name: f.Params["lock"]})
	}
	return all
}

func (l *FaultLog) client(process int) target {
	if l.clients > 0 {
		process %= l.clients
	}
	return target{kind: aClient, n: process}
}

// timelines hold the faults of each target.
type timelines map[target]*timeline

func (x timelines) add(f *Fault, targets []target) {
	for _, t := range targets {
		if x[t] == nil {
			x[t] = new(timeline)
		}
		x[t].add(f)
	}
}

func (x timelines) stops(f *Fault, targets []target) {
	for _, t := range targets {
		i, _ := slices.BinarySearchFunc(x[t].all, f.Event, func(g *Fault, event int) int { return cmp.Compare(g.Event, event) })
		x[t].stops(i)
	}
}

// in returns the faults that hit one of some targets and were in force at some time in [from,
// to], in the order in which they began.
func (x timelines) in(from, to time.Duration, targets ...target) iter.Seq[*Fault] {
	return func(yield func(*Fault) bool) {
		if len(x) == 0 {
			return
		}
		type cursor struct {
			*timeline
			i int
		}
		var room [3]cursor
		lines := room[:0]
		for _, t := range targets {
			if l := x[t]; l != nil {
				lines = append(lines, cursor{l, l.next(0, from)})
			}
		}
		for {
			var first *Fault
			for _, l := range lines {
				if l.i < len(l.all) && (first == nil || l.all[l.i].Event < first.Event) {
					first = l.all[l.i]
				}
			}
			if first == nil || first.Start > to || !yield(first) {
				return
			}
			for i := range lines {
				if l := &lines[i]; l.i < len(l.all) && l.all[l.i] == first {
					l.i = l.next(l.i+1, from)
				}
			}
		}
	}
}
