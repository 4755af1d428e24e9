package explain

import (
	"slices"

	"github.com/zkverify/zkverify/histories"
)

// Excerpt holds events of a history, in order: all of them, or those that explain a violation.
type Excerpt struct {
	Events []histories.Event
	At     []int // the index of each in the history; nil if Events are the whole history
}

// Index returns the index in the history of the event at a place of the excerpt.
func (x Excerpt) Index(place int) int {
	if x.At == nil {
		return place
	}
	return x.At[place]
}

// Place returns the place of the event with an index, -1 if the excerpt does not have it.
func (x Excerpt) Place(index int) int {
	if x.At == nil {
		if index < 0 || index >= len(x.Events) {
			return -1
		}
		return index
	}
	place, found := slices.BinarySearch(x.At, index)
	if !found {
		return -1
	}
	return place
}
