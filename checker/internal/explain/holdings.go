package explain

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/holding"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// nearPieces returns at most n pieces around a violation, those of its parties first.
func nearPieces(t *facts.Trace, w verdict.Witness, pieces []facts.Piece, n int) []facts.Piece {
	return nearest(w, pieces, n, func(p facts.Piece) bool { return isParty(w, p.Hold.Acquire) }, func(p facts.Piece) facts.Span { return p.Span })
}

// hold adds the take and the give of a piece.
func (s *Scene) hold(t *facts.Trace, p facts.Piece, take, give any) {
	h := p.Hold
	who, lock := judge.HoldParty(h), short(h.Lock)
	what := lock
	if h.Permits > 1 || t.Recipe(h.Lock).HasPermits() {
		what = words.Count(h.Permits, "permit") + " of " + lock
	}
	if h.Mode != "" {
		what += fmt.Sprintf(" to %s", h.Mode)
	}
	says := fmt.Sprintf("%v acquires %s", who, what)
	if h.Token != (histories.Token{}) {
		says += ", token " + verdict.Token(h.Token)
	}
	if p.From != h.Start {
		says = fmt.Sprintf("%v goes on holding %s, excused no longer", who, what)
	}
	s.add(h.Process, take, p.Call, p.From, who.Line, says)
	if p.To == facts.Forever {
		return
	}
	line := 0
	if h.EndEvent >= 0 {
		line = histories.Line(h.EndEvent)
	}
	switch {
	case p.To != h.End:
		says, line = fmt.Sprintf("%v is excused: its session was forced to expire", who), 0
	case h.Why == facts.ByLoss:
		says = fmt.Sprintf("%v has lost %s", who, what)
	case h.Why == facts.ByCrashing:
		says = fmt.Sprintf("%v crashes with %s", who, what)
	default:
		says = fmt.Sprintf("%v releases %s", who, what)
	}
	s.add(h.Process, give, p.To, max(p.To, p.Free), line, says)
}

func mutexScene(t *facts.Trace, w verdict.Witness, n int) *Scene {
	pieces := nearPieces(t, w, facts.PiecesOf(t.HoldsOf(w.Lock)), n/2)
	s := newScene(holding.MutexModel(nil).Porcupine(), func(state any) string {
		if i := state.(int); i != holding.Free {
			return "held by " + judge.HoldParty(pieces[i].Hold).String()
		}
		return "free"
	})
	s.holdings(t, pieces)
	return s
}

func readWriteScene(t *facts.Trace, w verdict.Witness, n int) *Scene {
	pieces := nearPieces(t, w, facts.PiecesOf(t.HoldsOf(w.Lock)), n/2)
	s := newScene(holding.HoldingsModel(holding.Holdings{}, holding.BesideReaders(pieces)).Porcupine(), func(state any) string {
		return heldBy(state.(holding.Holdings), func(i int) string {
			return fmt.Sprintf("%v, to %s", judge.HoldParty(pieces[i].Hold), pieces[i].Hold.Mode)
		})
	})
	s.holdings(t, pieces)
	return s
}

// permitsScene includes the changes of the size that can affect the holds that it draws.
func permitsScene(t *facts.Trace, w verdict.Witness, n int) *Scene {
	all := holding.SizesOf(t, w.Lock)
	pieces := nearPieces(t, w, holding.PermitPieces(t.HoldsOf(w.Lock), all), n/2)
	window := func() facts.Span {
		s := facts.Span{From: w.From, To: w.To}
		for _, p := range pieces {
			s.From, s.To = min(s.From, p.Call), max(s.To, p.From)
		}
		return s
	}
	changes := within(all, window())
	for len(pieces) > 2 && 2*len(pieces)+len(changes) > n {
		pieces = nearPieces(t, w, pieces, len(pieces)/2)
		changes = within(all, window())
	}
	initial, changes := changes[0], changes[1:]
	changes = changes[:min(len(changes), n/2)]
	s := newScene(holding.HoldingsModel(holding.Holdings{Size: initial.Size}, holding.BesidePermits(pieces)).Porcupine(), func(state any) string {
		h := state.(holding.Holdings)
		return fmt.Sprintf("size %d; %s", h.Size, heldBy(h, func(i int) string {
			return fmt.Sprintf("%v: %d", judge.HoldParty(pieces[i].Hold), pieces[i].Hold.Permits)
		}))
	})
	s.holdings(t, pieces)
	for _, c := range changes {
		s.add(c.Process, holding.HoldingsStep{Kind: holding.Resize, Size: c.Size}, c.Call, c.Ret, 0, fmt.Sprintf("%s makes the size %d", t.Header.Name(c.Process), c.Size))
	}
	return s
}

// within returns the changes that can be in force at some time in a span, after one that has
// returned before the span begins.
func within(s *holding.Sizes, window facts.Span) []holding.SizeChange {
	out := []holding.SizeChange{{Size: s.All[0].Size}}
	for i, c := range s.All {
		switch {
		case c.Call > window.To:
		case i == 0, c.Ret < window.From && s.Exact:
			out[0] = c
		case c.Until >= window.From:
			out = append(out, c)
		}
	}
	return out
}

func (s *Scene) holdings(t *facts.Trace, pieces []facts.Piece) {
	for i, p := range pieces {
		s.hold(t, p, holding.HoldingsStep{Kind: holding.Take, Piece: i}, holding.HoldingsStep{Kind: holding.Give, Piece: i})
	}
}

func heldBy(h holding.Holdings, who func(piece int) string) string {
	if len(h.Held) == 0 {
		return "free"
	}
	names := make([]string, len(h.Held))
	for i, piece := range h.Held {
		names[i] = who(piece)
	}
	return "held by " + strings.Join(names, ", ")
}
