package spec

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"
)

// differs describes the line at which the model stops, and what the model can do there instead.
func (v *Validator) differs(ctx context.Context, n int, w *window, steps []Step, at int) (string, error) {
	l := w.lines[at]
	s := steps[l.step]
	for i, l := range w.lines[:at+1] {
		if l.who < len(w.slots) {
			w.slots[l.who].process = w.names[i] // a node may have been handed on since
		}
	}
	text := fmt.Sprintf("line %d, %s at %v: %s, which the model cannot do here", l.step+1, w.lock, s.Time.Round(time.Microsecond), w.say(l))
	var tried []*window
	for _, other := range w.instead(at) {
		lines := append(slices.Clone(w.lines[:at]), other)
		tried = append(tried, &window{slots: w.slots, lines: lines})
	}
	if len(tried) == 0 {
		return text, nil
	}
	quick := *v // what it could have done helps to understand, and decides nothing
	quick.times = 1
	results, err := quick.run(ctx, n, tried)
	if err != nil {
		return "", err
	}
	var could []string
	for i, r := range results {
		if r == "done" {
			could = append(could, w.say(tried[i].lines[at]))
		}
	}
	if len(could) == 0 {
		return text + "; it has no other step of this record either", nil
	}
	return text + "; it could have done this: " + strings.Join(could, ", or "), nil
}

// instead returns steps that a run could have made in place of a line.
func (w *window) instead(at int) (all []line) {
	add := func(l line) {
		if l != (line{w.lines[at].kind, w.lines[at].who, w.lines[at].what, w.lines[at].at, 0}) {
			all = append(all, l)
		}
	}
	next := 1
	for _, l := range w.lines[:at] {
		if l.kind == created || l.kind == reader || l.kind == downgraded {
			next = max(next, l.what<<1)
			add(line{granted, l.who, l.what, 0, 0})
			add(line{taken, l.who, l.what, 1, 0})
			add(line{deleted, l.who, l.what, l.at, 0})
		}
	}
	for who := range w.slots {
		for age := range w.slots[who].sessions {
			add(line{created, who, next, age, 0})
			add(line{reader, who, next, age, 0})
			add(line{ended, who, 0, age, 0})
		}
		add(line{loss, who, 0, 0, 0})
		add(line{releasing, who, 0, 0, 0})
		add(line{passed, who, 0, 0, 0})
		add(line{answered, who, 0, 0, 0})
	}
	return all
}

// nodesOf returns the nodes that have some bits, "" if there are none.
func (w *window) nodesOf(bits int) string {
	var all []string
	for n, bit := range w.bits {
		if bit&bits != 0 {
			all = append(all, fmt.Sprintf("node %#x", n))
		}
	}
	slices.Sort(all)
	return strings.Join(all, " and ")
}

// say describes a line.
func (w *window) say(l line) string {
	switch l.kind {
	case empty:
		return "all clients have left, and no node stands"
	case resized:
		return fmt.Sprintf("the size becomes %d", l.what)
	}
	node := cmp.Or(w.nodesOf(l.what), "a new node")
	if l.kind == others {
		return "others delete " + node
	}
	who := fmt.Sprintf("contender %d", w.slots[l.who].process)
	session := "its session"
	if l.at < len(w.slots[l.who].sessions) {
		session = "session " + w.slots[l.who].sessions[l.at]
	}
	switch l.kind {
	case begun:
		return who + " begins an acquire"
	case reader:
		return who + " creates a reader's " + node + " in " + session
	case downgraded:
		return who + " becomes a reader, with " + node
	case created:
		return who + " creates " + node + " in " + session
	case deleted:
		return who + " deletes " + node
	case written:
		return who + " writes, guarded by " + node
	case taken:
		return fmt.Sprintf("%s takes permits in place of %s, after which %d are out", who, node, l.at)
	case granted:
		return who + " is granted the lock by " + node
	case loss:
		return who + " is told that it has lost the lock"
	case releasing:
		return who + " releases the lock"
	case passed:
		return who + " hands the lock on"
	case answered:
		return who + " is told that the lock is released"
	}
	return session + " of " + who + " ends"
}
