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
	lock    string
	slots   []slot
	lines   []line
	names   []int  // by line: the process of its slot then
	beyond  string // why the model cannot speak of the rest of it, or ""
	rest    int    // the number of lines of that
	nodes   int
	bits    map[int64]int    // by node
	latest  map[int64]int    // by writer's node: the bit of it, or of the reader that it has become last
	of      map[int64]int    // the slot of each node
	owner   map[int64]string // its session
	stand   map[int64]bool
	removed map[int64]bool
	late    map[*ask]bool // acquires that will be granted, although others have deleted their node
	kept    []kept
	again   int   // the number of lines at its beginning that are also in the window before
	size    *line // of a semaphore, at its beginning

	downgrades map[int64]bool // nodes of readers that were writers
}

// slot is a contender of the model: a process of a client, and its sessions one after the other.
type slot struct {
	process  int
	sessions []string
	session  int // the contender's session in the model: the first slot with it
	renewals int // of that: the sessions after the first one that lines speak of
	believes bool
	reads    bool  // by the belief, or the last one
	node     int64 // of the belief
	released bool  // the belief has ended by a release
	left     bool  // the process has ended the belief, the client hands the node on some time after
	last     int64 // node
	told     bool  // its client was told that its session has ended before the servers ended it
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
	_ // a window begins
	reader
	downgraded
	passed
	taken
	resized
)

// stranger is the age of a session that is none of a slot's.
const stranger = 255

// severalSessions is why a window is beyond the model, of which one contender alone learns that a session has ended.
const severalSessions = "another session of several contenders"

func (w *window) add(l line) {
	if len(w.lines) == mostLines {
		w.tooMuch(fmt.Sprintf("more than %d steps", mostLines))
	}
	if w.beyond != "" {
		w.rest++
		return
	}
	name := 0
	if l.who < len(w.slots) {
		name = w.slots[l.who].process
	}
	w.lines, w.names = append(w.lines, l), append(w.names, name)
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
		if at := slices.Index(w.slots[i].sessions, session); at >= 0 {
			s.session, s.sessions = w.slots[i].session, slices.Clone(w.slots[i].sessions[:at+1])
			if w.slots[s.session].told || at+1 < len(w.slots[i].sessions) {
				w.tooMuch(severalSessions)
			}
			break
		}
	}
	if w.slots = append(w.slots, s); len(w.slots) > mostSlots {
		w.tooMuch(fmt.Sprintf("more than %d contenders", mostSlots))
	}
	return n
}

// age returns the number of a session among those of a slot.
func (w *window) age(who int, session string) int {
	if n := slices.Index(w.slots[who].sessions, session); n >= 0 {
		return n
	}
	return stranger
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
