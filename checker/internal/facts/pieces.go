package facts

import (
	"cmp"
	"slices"
	"time"
)

// Piece is a part of a hold in which the belief counts.
type Piece struct {
	Hold *Hold
	Span
	// Call and Free bound the instants at which the service can have granted and taken back
	// this piece: it was granted in [Call, From], and freed in [To, Free].
	Call, Free time.Duration
}

// PiecesOf returns the parts of the holds in which beliefs count, sorted by start.
func PiecesOf(holds []*Hold) []Piece {
	out := make([]Piece, 0, len(holds))
	for _, h := range holds {
		parts := h.Pieces()
		for i, s := range parts {
			p := Piece{Hold: h, Span: s, Call: h.Call, Free: h.Released}
			// Between two pieces lies an excuse: somewhere in it the belief
			// stopped counting, and at its end it counts again.
			if i > 0 {
				p.Call = parts[i-1].To
			} else if s.From != h.Start {
				p.Call = min(h.Call, s.From)
			}
			if i+1 < len(parts) {
				p.Free = parts[i+1].From
			} else if s.To != h.End {
				p.Free = Forever
			}
			out = append(out, p)
		}
	}
	sortPieces(out)
	return out
}

// Now returns p as it is among the pieces known by now, which are sorted by start: its end may
// have become known.
func (p Piece) Now(pieces []Piece) Piece {
	i, _ := slices.BinarySearchFunc(pieces, p.From, func(q Piece, from time.Duration) int { return cmp.Compare(q.From, from) })
	for ; i < len(pieces) && pieces[i].From == p.From; i++ {
		if pieces[i].Hold == p.Hold {
			return pieces[i]
		}
	}
	return p
}

// WholePieces returns the holds as pieces without excuses.
func WholePieces(holds []*Hold) []Piece {
	out := make([]Piece, len(holds))
	for i, h := range holds {
		out[i] = Piece{Hold: h, Span: Span{h.Start, h.End}, Call: h.Call, Free: h.Released}
	}
	sortPieces(out)
	return out
}

func sortPieces(pieces []Piece) {
	slices.SortStableFunc(pieces, func(a, b Piece) int {
		return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.To, b.To))
	})
}

// Pieces returns the parts of h in which the belief counts, as closed intervals.
func (h *Hold) Pieces() []Span {
	out := []Span{{h.Start, h.End}}
	for _, x := range h.Excuses {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		if x.From > last.To || x.To < last.From {
			out = append(out, last)
			continue
		}
		if last.From < x.From {
			out = append(out, Span{last.From, x.From})
		}
		if x.To >= last.To {
			return slices.Clip(out)
		}
		out = append(out, Span{x.To, last.To})
	}
	return out
}

// Bare returns copies of the holds without their excuses.
func Bare(holds []*Hold) []*Hold {
	out := make([]*Hold, len(holds))
	for i, h := range holds {
		c := *h
		c.Excuses = nil
		out[i] = &c
	}
	return out
}
