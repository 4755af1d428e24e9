package models

import (
	"context"
	"fmt"
	"math/bits"
	"time"
)

// A sweep keeps the states in which a lock or register may be: after each return, the
// configurations in which the returning operation has taken effect. None is left if the history
// is not linearizable.
//
// An open operation that will return has a slot. An operation that never returns may take
// effect at any time, or not at all. There may be many of those, but they have few different
// inputs, so they are counted by input. A configuration that has used up fewer of them than
// another can do all that the other can.
type sweep[S, I comparable] struct {
	step    func(S, I) (S, bool)
	reads   func(I) bool // an operation changes no state in which it is allowed
	limits  *limits
	slots   []I
	taken   slotSet
	state   S                      // the state, if no open operation has taken effect
	several map[config[S]][]string // all configurations; nil if state is the only one
	crashed []I                    // the inputs of operations that never return
	counts  []int
	class   map[I]int
	unknown string // why the history is not decided
	broken  bool   // no order fits
}

// slotSet has one bit for each slot.
type slotSet [2]uint64

const mostSlots = 128

func (s slotSet) has(i int) bool        { return s[i/64]>>(i%64)&1 == 1 }
func (s slotSet) with(i int) slotSet    { s[i/64] |= 1 << (i % 64); return s }
func (s slotSet) without(i int) slotSet { s[i/64] &^= 1 << (i % 64); return s }

// config is a state, with the set of open operations that have taken effect. The maps of
// configurations add how many of the operations that never return have been used up, a byte for
// each kind.
type config[S comparable] struct {
	state S
	done  slotSet
}

// mostUsed is the largest number of operations of one kind, which never return, that is
// counted: beyond it they are taken to be always enough.
const mostUsed = 250

// limits bound the cost of the sweeps of a history.
type limits struct {
	ctx     context.Context
	configs int           // the configurations that one sweep may keep
	left    time.Duration // for all sweeps to come
	begun   time.Time     // when the current sweep began
	steps   int           // since the last look at the clock
	kept    int           // operations that are kept for Porcupine
}

// mostKept is the largest number of operations, of all locks and registers, that are kept for
// Porcupine.
const mostKept = 1 << 18

// keeps reports whether another operation may be kept.
func (l *limits) keeps() bool { l.kept++; return l.kept <= mostKept }

// ended reports whether the time is up.
func (l *limits) ended() bool {
	if l.steps++; l.steps < 1<<12 {
		return false
	}
	l.steps = 0
	return l.ctx.Err() != nil || time.Since(l.begun) > l.left
}

func newSweep[S, I comparable](begin S, step func(S, I) (S, bool), reads func(I) bool, l *limits) *sweep[S, I] {
	return &sweep[S, I]{step: step, reads: reads, limits: l, state: begin}
}

func (w *sweep[S, I]) over() bool { return w.broken || w.unknown != "" }

// call takes in an operation that will return, and returns its slot.
func (w *sweep[S, I]) call(in I) int {
	for i := range mostSlots {
		if w.taken.has(i) {
			continue
		}
		w.taken = w.taken.with(i)
		if i == len(w.slots) {
			w.slots = append(w.slots, in)
		}
		w.slots[i] = in
		return i
	}
	w.unknown = fmt.Sprintf("more than %d operations were open at one time", mostSlots)
	return -1
}

// crash takes in an operation that never returns.
func (w *sweep[S, I]) crash(in I) {
	i, known := w.class[in]
	if !known {
		i = len(w.crashed)
		if w.class == nil {
			w.class = map[I]int{}
		}
		w.class[in] = i
		w.crashed = append(w.crashed, in)
		w.counts = append(w.counts, 0)
	}
	w.counts[i]++
}

// ret takes in the return of the operation in a slot.
func (w *sweep[S, I]) ret(slot int) {
	if w.alone(slot) {
		return
	}
	next := &found[S]{all: map[config[S]][]string{}}
	seen := &found[S]{all: map[config[S]][]string{}}
	if w.several == nil {
		w.several = map[config[S]][]string{{state: w.state}: {""}}
	}
	for c, useds := range w.several {
		for _, used := range useds {
			if c.done.has(slot) {
				next.add(config[S]{c.state, c.done.without(slot)}, used)
			} else {
				seen.push(c, used)
			}
		}
	}
	w.limits.begun = time.Now()
	defer func() { w.limits.left -= time.Since(w.limits.begun) }()
	for len(seen.open) > 0 {
		if next.n+seen.n > w.limits.configs {
			w.unknown = fmt.Sprintf("more than %d states are possible at one time", w.limits.configs)
			return
		}
		if w.limits.ended() {
			w.unknown = "its time was up"
			return
		}
		last := len(seen.open) - 1
		p := seen.open[last]
		seen.open = seen.open[:last]
		w.expand(p, slot, next, seen)
	}
	w.taken = w.taken.without(slot)
	w.keep(next.all)
	w.broken = next.n == 0
}

// keep sets the configurations that are possible after a return.
func (w *sweep[S, I]) keep(all map[config[S]][]string) {
	w.several = all
	for c, useds := range all {
		if w.state = c.state; len(all) == 1 && len(useds) == 1 && useds[0] == "" && c.done == (slotSet{}) {
			w.several = nil
		}
	}
}

// alone is ret for the common case that one state is possible and no other operation is open.
// It returns false in other cases.
func (w *sweep[S, I]) alone(slot int) bool {
	if w.several != nil || len(w.crashed) > 0 || w.taken != (slotSet{}).with(slot) {
		return false
	}
	then, ok := w.step(w.state, w.slots[slot])
	if ok {
		w.state, w.taken = then, slotSet{}
	}
	return ok
}

// expand adds to next the configurations in which the returning operation takes effect at place
// p, and to seen those in which another operation takes effect before it.
func (w *sweep[S, I]) expand(p place[S], slot int, next, seen *found[S]) {
	w.settle(&p, slot)
	if then, ok := w.step(p.state, w.slots[slot]); ok {
		next.add(config[S]{then, p.done}, p.used)
		if then == p.state && w.reads(w.slots[slot]) {
			return // the others can take effect after it
		}
	}
	for i, word := range w.taken {
		for word &^= p.done[i]; word != 0; word &= word - 1 {
			other := 64*i + bits.TrailingZeros64(word)
			if other == slot {
				continue
			}
			if then, ok := w.step(p.state, w.slots[other]); ok {
				seen.push(config[S]{then, p.done.with(other)}, p.used)
			}
		}
	}
	for i, in := range w.crashed {
		count := min(w.counts[i], mostUsed+1)
		if usedOf(p.used, i) >= count {
			continue
		}
		if then, ok := w.step(p.state, in); ok && then != p.state {
			used := p.used
			if count <= mostUsed {
				used = use(used, i)
			}
			seen.push(config[S]{then, p.done}, used)
		}
	}
}

// settle lets open operations take effect that are allowed in this state and change no state:
// later they may not be allowed any more.
func (w *sweep[S, I]) settle(p *place[S], slot int) {
	for i, word := range w.taken {
		for word &^= p.done[i]; word != 0; word &= word - 1 {
			other := 64*i + bits.TrailingZeros64(word)
			if other == slot || !w.reads(w.slots[other]) {
				continue
			}
			if then, ok := w.step(p.state, w.slots[other]); ok && then == p.state {
				p.done = p.done.with(other)
			}
		}
	}
}

// place is a configuration from which the search goes on.
type place[S comparable] struct {
	config[S]
	used string
}

// found are configurations, each with the smallest numbers of operations used up.
type found[S comparable] struct {
	all  map[config[S]][]string
	open []place[S]
	n    int
}

// add adds a configuration, unless another one in f can do all that this one can.
func (f *found[S]) add(c config[S], used string) bool {
	useds := f.all[c]
	left := useds[:0:0]
	for _, u := range useds {
		if covers(u, used) {
			return false
		}
		if !covers(used, u) {
			left = append(left, u)
		}
	}
	f.n += len(left) + 1 - len(useds)
	f.all[c] = append(left, used)
	return true
}

// push adds a configuration, and the search goes on from it if it is new.
func (f *found[S]) push(c config[S], used string) {
	if f.add(c, used) {
		f.open = append(f.open, place[S]{c, used})
	}
}

// covers reports whether a uses up no more operations of any kind than b.
func covers(a, b string) bool {
	for i := range len(a) {
		if a[i] > 0 && (i >= len(b) || a[i] > b[i]) {
			return false
		}
	}
	return true
}

func usedOf(used string, i int) int {
	if i < len(used) {
		return int(used[i])
	}
	return 0
}

// use counts one more operation as used up.
func use(used string, i int) string {
	b := make([]byte, max(len(used), i+1))
	copy(b, used)
	b[i]++
	return string(b)
}
