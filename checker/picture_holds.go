package checker

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// nearPieces returns at most n pieces around a violation, those of its parties
// first.
func (t *trace) nearPieces(w Witness, pieces []piece, n int) []piece {
	return nearest(w, pieces, n, func(p piece) bool { return w.isParty(p.hold.acquire) }, func(p piece) span { return p.span })
}

// hold adds both ends of a piece.
func (s *scene) hold(t *trace, p piece, take, give any) {
	h := p.hold
	who, lock := h.party(), short(h.lock)
	what := lock
	if h.permits > 1 || t.recipe(h.lock).HasPermits() {
		what = words.Count(h.permits, "permit") + " of " + lock
	}
	if h.mode != "" {
		what += fmt.Sprintf(" to %s", h.mode)
	}
	says := fmt.Sprintf("%v acquires %s", who, what)
	if h.token != (histories.Token{}) {
		says += ", token " + token(h.token)
	}
	if p.from != h.start {
		says = fmt.Sprintf("%v goes on holding %s, excused no longer", who, what)
	}
	s.add(h.process, take, p.call, p.from, who.Line, says)
	if p.to == forever {
		return
	}
	line := 0
	if h.endEvent >= 0 {
		line = histories.Line(h.endEvent)
	}
	switch {
	case p.to != h.end:
		says, line = fmt.Sprintf("%v is excused: its session was ended from the side", who), 0
	case h.why == byLoss:
		says = fmt.Sprintf("%v has lost %s", who, what)
	case h.why == byCrashing:
		says = fmt.Sprintf("%v crashes with %s", who, what)
	default:
		says = fmt.Sprintf("%v releases %s", who, what)
	}
	s.add(h.process, give, p.to, max(p.to, p.free), line, says)
}

func mutexScene(t *trace, w Witness, n int) *scene {
	pieces := t.nearPieces(w, piecesOf(t.byLock[w.Lock]), n/2)
	s := newScene(mutexModel(nil).porcupine(), func(state any) string {
		if i := state.(int); i != free {
			return "held by " + pieces[i].hold.party().String()
		}
		return "free"
	})
	s.holdings(t, pieces)
	return s
}

func readWriteScene(t *trace, w Witness, n int) *scene {
	pieces := t.nearPieces(w, piecesOf(t.byLock[w.Lock]), n/2)
	s := newScene(holdingsModel(holdings{}, besideReaders(pieces)).porcupine(), func(state any) string {
		return heldBy(state.(holdings), func(i int) string {
			return fmt.Sprintf("%v, to %s", pieces[i].hold.party(), pieces[i].hold.mode)
		})
	})
	s.holdings(t, pieces)
	return s
}

// permitsScene takes the changes of the size along that can matter to what it
// draws.
func permitsScene(t *trace, w Witness, n int) *scene {
	all := t.sizesOf(w.Lock)
	pieces := t.nearPieces(w, permitPieces(t.byLock[w.Lock], all), n/2)
	window := func() span {
		s := span{w.From, w.To}
		for _, p := range pieces {
			s.from, s.to = min(s.from, p.call), max(s.to, p.from)
		}
		return s
	}
	changes := all.within(window())
	for len(pieces) > 2 && 2*len(pieces)+len(changes) > n {
		pieces = t.nearPieces(w, pieces, len(pieces)/2)
		changes = all.within(window())
	}
	initial, changes := changes[0], changes[1:]
	changes = changes[:min(len(changes), n/2)]
	s := newScene(holdingsModel(holdings{size: initial.size}, besidePermits(pieces)).porcupine(), func(state any) string {
		h := state.(holdings)
		return fmt.Sprintf("size %d; %s", h.size, heldBy(h, func(i int) string {
			return fmt.Sprintf("%v: %d", pieces[i].hold.party(), pieces[i].hold.permits)
		}))
	})
	s.holdings(t, pieces)
	for _, c := range changes {
		s.add(c.process, holdingsStep{kind: resize, size: c.size}, c.call, c.ret, 0, fmt.Sprintf("process %d makes the size %d", c.process, c.size))
	}
	return s
}

// within returns the changes that can be in force at some time in a span, with
// one before them that is done with when it begins.
func (s *sizes) within(window span) []sizeChange {
	out := []sizeChange{{size: s.all[0].size}}
	for i, c := range s.all {
		switch {
		case c.call > window.to:
		case i == 0, c.ret < window.from && s.exact:
			out[0] = c
		case c.until >= window.from:
			out = append(out, c)
		}
	}
	return out
}

func (s *scene) holdings(t *trace, pieces []piece) {
	for i, p := range pieces {
		s.hold(t, p, holdingsStep{kind: take, piece: i}, holdingsStep{kind: give, piece: i})
	}
}

func heldBy(h holdings, who func(piece int) string) string {
	if len(h.held) == 0 {
		return "free"
	}
	names := make([]string, len(h.held))
	for i, piece := range h.held {
		names[i] = who(piece)
	}
	return "held by " + strings.Join(names, ", ")
}
