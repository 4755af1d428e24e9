package histories

import (
	"errors"
	"fmt"
	"time"
)

// says checks the fields of a says event.
func says(e *Event) error {
	s := e.Saying
	if s == nil {
		return missing(e, "saying")
	}
	if e.Lock == "" && e.Parts == nil && s.Connection == "" {
		return missing(e, "lock")
	}
	if s.Asked < 0 || s.Asked > e.Time {
		return fmt.Errorf("asked at %d for an answer of %d", s.Asked, e.Time)
	}
	for _, left := range []*time.Duration{s.Left, s.Least} {
		if left != nil && (*left > maxTime || *left < -maxTime) {
			return fmt.Errorf("a deadline in %d", *left)
		}
	}
	switch s.Told {
	case "", ToldAcquired, ToldLost, ToldReleased, ToldAcquiring, ToldGaveUp, ToldUnheard, ToldRevokeRequested:
	default:
		return fmt.Errorf("an observer was told %q", s.Told)
	}
	switch s.State {
	case "", StateHeld, StateSuspended, StateLost, StateReleased:
	default:
		return fmt.Errorf("a lease in the state %q", s.State)
	}
	switch s.Connection {
	case "", ConnectionConnected, ConnectionSuspended, ConnectionReconnected, ConnectionLost, ConnectionClosed:
	default:
		return fmt.Errorf("a listener was told %q", s.Connection)
	}
	if (s.Connection != "") != (s.Client > 0) {
		return fmt.Errorf("client %d of the target is %q", s.Client, s.Connection)
	}
	if s.Depth < 0 || s.Created < 0 {
		return fmt.Errorf("depth %d, created by %d", s.Depth, s.Created)
	}
	if s.Told == "" && s.State == "" && s.Connection == "" && s.Valid == nil && s.Left == nil && s.Depth == 0 && s.Ended == nil && s.Created == 0 && s.Held == nil && s.Queue == nil {
		return errors.New("it says nothing")
	}
	return needProcess(e)
}
