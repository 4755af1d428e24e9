package checker

import (
	"cmp"
	"slices"
	"time"
)

// piece is a part of a hold that counts.
type piece struct {
	hold *hold
	span
	// call and free bound the instants at which the service can have given
	// and taken back this piece: it was granted in [call, from], and freed in
	// [to, free].
	call, free time.Duration
}

// piecesOf returns the parts of the holds that count, sorted by start.
func piecesOf(holds []*hold) []piece {
	out := make([]piece, 0, len(holds))
	for _, h := range holds {
		parts := h.pieces()
		for i, s := range parts {
			p := piece{hold: h, span: s, call: h.call, free: h.released}
			// Between two pieces lies an excuse: somewhere in it the belief
			// stopped counting, and at its end it counts again.
			if i > 0 {
				p.call = parts[i-1].to
			} else if s.from != h.start {
				p.call = min(h.call, s.from)
			}
			if i+1 < len(parts) {
				p.free = parts[i+1].from
			} else if s.to != h.end {
				p.free = forever
			}
			out = append(out, p)
		}
	}
	sortPieces(out)
	return out
}

// now returns p as it is among pieces that are known by now, sorted by start: its
// end may have come.
func (p piece) now(pieces []piece) piece {
	i, _ := slices.BinarySearchFunc(pieces, p.from, func(q piece, from time.Duration) int { return cmp.Compare(q.from, from) })
	for ; i < len(pieces) && pieces[i].from == p.from; i++ {
		if pieces[i].hold == p.hold {
			return pieces[i]
		}
	}
	return p
}

// wholePieces returns the holds as if nothing excused them.
func wholePieces(holds []*hold) []piece {
	out := make([]piece, len(holds))
	for i, h := range holds {
		out[i] = piece{hold: h, span: span{h.start, h.end}, call: h.call, free: h.released}
	}
	sortPieces(out)
	return out
}

func sortPieces(pieces []piece) {
	slices.SortStableFunc(pieces, func(a, b piece) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to))
	})
}

// pieces returns the parts of h that count, as closed intervals.
func (h *hold) pieces() []span {
	out := []span{{h.start, h.end}}
	for _, x := range h.excuses {
		last := out[len(out)-1]
		out = out[:len(out)-1]
		if x.from > last.to || x.to < last.from {
			out = append(out, last)
			continue
		}
		if last.from < x.from {
			out = append(out, span{last.from, x.from})
		}
		if x.to >= last.to {
			return slices.Clip(out)
		}
		out = append(out, span{x.to, last.to})
	}
	return out
}

// bare returns copies of the holds without their excuses.
func bare(holds []*hold) []*hold {
	out := make([]*hold, len(holds))
	for i, h := range holds {
		c := *h
		c.excuses = nil
		out[i] = &c
	}
	return out
}
