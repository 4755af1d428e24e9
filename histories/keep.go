package histories

import (
	"fmt"
	"iter"
)

// Kept is a history in memory. It may be read once its Recorder is closed.
type Kept struct {
	header Header
	pieces [][]Event // full but for the last, so that no event is copied as the history grows
}

// keptAtATime is the number of events in a piece.
const keptAtATime = 512

// Keep starts a history that stays in memory, as [Create] starts one in a file. It is for a run
// that can be repeated, and that leaves no file if it passes. Recorded events must not be changed
// afterwards. The caller must Close the recorder.
func Keep(h Header) (*Recorder, *Kept, error) {
	r := recorderOf(&h)
	if err := h.check(); err != nil {
		return nil, nil, fmt.Errorf("histories: cannot record: %w", err)
	}
	r.kept = &Kept{header: h}
	go r.tick()
	return r, r.kept, nil
}

func (k *Kept) append(e *Event) {
	last := len(k.pieces) - 1
	if last < 0 || len(k.pieces[last]) == keptAtATime {
		k.pieces = append(k.pieces, make([]Event, 0, keptAtATime))
		last++
	}
	k.pieces[last] = append(k.pieces[last], *e)
}

// Header returns the history's header.
func (k *Kept) Header() Header { return k.header }

// Events yields the events in order. The error is always nil.
func (k *Kept) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for _, piece := range k.pieces {
			for i := range piece {
				if !yield(&piece[i], nil) {
					return
				}
			}
		}
	}
}

// Write writes the history to a new file at path, as [WriteFile] does.
func (k *Kept) Write(path string) error {
	h := &History{Header: k.header}
	for _, piece := range k.pieces {
		h.Events = append(h.Events, piece...)
	}
	return WriteFile(path, h)
}
