package checker

import (
	"context"
	"iter"

	"github.com/zkverify/zkverify/histories"
)

// Source is a valid history that can be read more than once, such as one in a file
// ([histories.File.All]).
type Source struct {
	Header histories.Header
	// Events yields the events from the first one on, each time that it is called. An event is
	// not read again once the next one is requested. An error that comes instead of an event is
	// returned.
	Events iter.Seq2[*histories.Event, error]
	// Line returns the line in the file of the event that was yielded last. Nil stands for the
	// line numbers of the JSON lines format.
	Line func() int

	inMemory *histories.History // the whole history, if it is in memory; nil if that is not known
}

// SourceOf returns the source of a history in memory.
func SourceOf(h *histories.History) Source {
	s := Source{Header: h.Header, inMemory: h}
	i := 0
	s.Events = func(yield func(*histories.Event, error) bool) {
		for i = range h.Events {
			if !yield(&h.Events[i], nil) {
				return
			}
		}
	}
	s.Line = func() int { return h.LineOf(i) }
	return s
}

// line returns the line of event i, which was yielded last.
func (s Source) line(i int) int {
	if s.Line == nil {
		return histories.Line(i)
	}
	return s.Line()
}

// each calls do with each event until ctx ends.
func (s Source) each(ctx context.Context, do func(i int, e *histories.Event)) error {
	i := 0
	for e, err := range s.Events {
		if err != nil {
			return err
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		do(i, e)
		i++
	}
	return nil
}
