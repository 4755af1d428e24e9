package recipes_test

import (
	"fmt"
	"slices"
	"sync"
)

// This file finds every point at which a call of a recipe waits for the servers: it runs the call
// once and records its requests. Tests then run the call again and act at each of them, so no
// await point is forgotten when a recipe changes.

// point is one request of a call.
type point struct {
	phase phase
	op    int32
	nth   int // of its kind, from 1
}

type phase string

const (
	queueing  phase = "queueing"  // from the call until it waits for other contenders, or returns
	granting  phase = "granting"  // from their release until it returns
	cleaning  phase = "cleaning"  // after a cancel while it waits for other contenders
	releasing phase = "releasing" // of the lease
)

// asWaitEnds returns the phase to switch to when the wait is about to end, for a point in phase
// p.
func (p phase) asWaitEnds() phase {
	if p == releasing {
		return granting
	}
	return p
}

var opNames = map[int32]string{
	opCreate: "create", opDelete: "delete", opExists: "exists", opGetData: "get", opSetData: "set",
	opSync: "sync", opChildren: "list", opMulti: "multi", opCreateContainer: "create parent",
}

func (p point) String() string { return fmt.Sprintf("%s, %s %d", p.phase, opNames[p.op], p.nth) }

const opSetData = 5

// side is the place where a packet is stopped: before the server gets the request, or before the
// client gets the reply.
type side string

// sides returns the sides that differ for the request: a read leaves no trace on the servers.
func (p point) sides() []side {
	if p.changes() {
		return []side{"request", "reply"}
	}
	return []side{"reply"}
}

// changes reports whether the request may change something on the servers.
func (p point) changes() bool {
	switch p.op {
	case opExists, opGetData, opSync, opChildren:
		return false
	}
	return true
}

// prompter counts the requests of a call, and acts at one of them.
type prompter struct {
	at   point
	side side
	act  func() bool // see intercept

	mu    sync.Mutex
	phase phase
	seen  []point
	open  map[int32][]point // not answered yet, by kind
	acted bool
}

func newPrompter(at point, side side, act func() bool) *prompter {
	return &prompter{at: at, side: side, act: act, phase: queueing, open: make(map[int32][]point)}
}

func (p *prompter) on(wire *intercept) { wire.on(p.request, p.reply) }

func (p *prompter) turn(to phase) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.phase = to
}

func (p *prompter) points() []point {
	p.mu.Lock()
	defer p.mu.Unlock()
	return slices.Clone(p.seen)
}

func (p *prompter) hasActed() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.acted
}

func (p *prompter) request(op int32) bool {
	if opNames[op] == "" {
		return true // a ping, a heartbeat
	}
	p.mu.Lock()
	now := point{p.phase, op, 1}
	for _, before := range p.seen {
		if before.phase == p.phase && before.op == op {
			now.nth++
		}
	}
	p.seen = append(p.seen, now)
	p.open[op] = append(p.open[op], now)
	return p.pass("request", now)
}

func (p *prompter) reply(op int32) bool {
	p.mu.Lock()
	if len(p.open[op]) == 0 {
		p.mu.Unlock()
		return true
	}
	now := p.open[op][0] // a connection answers in order
	p.open[op] = p.open[op][1:]
	return p.pass("reply", now)
}

// pass unlocks p.
func (p *prompter) pass(side side, now point) bool {
	act := p.act != nil && !p.acted && side == p.side && now == p.at
	p.acted = p.acted || act
	p.mu.Unlock()
	return !act || p.act()
}
