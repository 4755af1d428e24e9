package models

import (
	"context"
	"fmt"
	"math/bits"
	"time"
)

// A sweep keeps the states in which a lock or register may be: after each return the
// configurations in which the operation that returns has taken effect. There is none left if the
// history is not linearizable.
//
// What is open and will return has a slot. What never returns may take effect at any time, or not
// at all, and is told apart from others by what it does alone: there may be many of them, which
// do few things. A configuration that has used up fewer of them than another can do all that the
// other can.
type sweep[S, I comparable] struct {
	step    func(S, I) (S, bool)
	reads   func(I) bool // an operation changes no state in which it is allowed
	limits  *limits
	slots   []I
	taken   slotSet
	state   S                      // if no operation that is open has taken effect
	several map[config[S]][]string // else; nil if state says all
	crashed []I                    // what is done by operations that never return
	counts  []int
	class   map[I]int
	unknown string // why it is not decided
	broken  bool   // no order fits
}

// slotSet has one bit for each slot.
type slotSet [2]uint64

const mostSlots = 128

func (s slotSet) has(i int) bool        { return s[i/64]>>(i%64)&1 == 1 }
func (s slotSet) with(i int) slotSet    { s[i/64] |= 1 << (i % 64); return s }
func (s slotSet) without(i int) slotSet { s[i/64] &^= 1 << (i % 64); return s }

// config is a state, and the open operations that have taken effect. With it goes how many of
// the operations that never return have been used up, a byte for each kind.
type config[S comparable] struct {
	state S
	done  slotSet
}

// mostUsed is how many operations of one kind that never return are counted: of more there are
// always enough.
const mostUsed = 250

// limits bound what the sweeps of a history may cost.
type limits struct {
	ctx     context.Context
	configs int           // that a sweep may keep
	left    time.Duration // for all sweeps to come
	begun   time.Time     // when the one that goes on began
	steps   int           // since the clock was looked at
	kept    int           // operations that are kept for Porcupine
}

// mostKept is how many operations are kept for Porcupine, of all locks and registers.
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

// call takes in an operation that will return. It returns its slot.
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

// keep takes in what is possible after a return.
func (w *sweep[S, I]) keep(all map[config[S]][]string) {
	w.several = all
	for c, useds := range all {
		if w.state = c.state; len(all) == 1 && len(useds) == 1 && useds[0] == "" && c.done == (slotSet{}) {
			w.several = nil
		}
	}
}

// alone is ret where one state is possible and nothing else is open, as it often is. It reports
// false elsewhere.
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

// expand adds to next what a place leads to when the operation that returns takes effect, and to
// seen what it leads to when another one does before it.
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

// settle has open operations take effect that are allowed and change nothing in any state: later
// they may not be allowed any more.
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

// place is where the search goes on from.
type place[S comparable] struct {
	config[S]
	used string
}

// found are configurations, each with the fewest operations used up.
type found[S comparable] struct {
	all  map[config[S]][]string
	open []place[S]
	n    int
}

// add takes in a configuration unless one that it has can do all that this one can.
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

// push is add of one from which the search is to go on.
func (f *found[S]) push(c config[S], used string) {
	if f.add(c, used) {
		f.open = append(f.open, place[S]{c, used})
	}
}

// covers reports whether no more is used up in a than in b.
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

// use uses up one more operation.
func use(used string, i int) string {
	b := make([]byte, max(len(used), i+1))
	copy(b, used)
	b[i]++
	return string(b)
}
