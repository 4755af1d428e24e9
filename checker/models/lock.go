package models

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/histories"
)

// lockState is the state of a lock or a semaphore.
type lockState struct {
	owner string // the holder; of a semaphore with owners, the holders and their permits
	n     int    // how often the lock is held, or how many permits are
	fence int64  // of the holder; 0: it has none
	top   int64  // the greatest fence that was granted
}

// lockInput is an operation on a lock.
type lockInput struct {
	release bool
	owner   string
	fence   int64
	permits int
}

// lockModel steps from one state of a lock to the next.
type lockModel struct {
	histories.Model
	size int
}

// step returns the state after an operation, or false if the model does not allow the
// operation.
func (m lockModel) step(s lockState, in lockInput) (lockState, bool) {
	switch {
	case m.Permits:
		return m.permits(s, in)
	case in.release:
		if s.n == 0 || m.Owners && !same(s.owner, in.owner) {
			return s, false
		}
		if s.n--; s.n == 0 {
			s.owner, s.fence = "", 0
		}
		return s, true
	case s.n == 0:
		if in.fence > 0 && m.Fenced && in.fence <= s.top {
			return s, false
		}
	case !m.Reentrant || !same(s.owner, in.owner) || m.size > 0 && s.n >= m.size:
		return s, false
	case m.Fenced && s.fence > 0:
		if in.fence > 0 && in.fence != s.fence {
			return s, false
		}
		in.fence = s.fence
	case m.Fenced && in.fence > 0 && in.fence <= s.top:
		return s, false
	}
	s.n++
	if m.Owners && (s.owner == "" || s.owner == histories.AnyOwner) {
		s.owner = in.owner
	}
	if m.Fenced {
		s.fence, s.top = in.fence, max(s.top, in.fence)
	}
	return s, true
}

// same reports whether two owners may be the same.
func same(a, b string) bool { return a == b || a == histories.AnyOwner || b == histories.AnyOwner }

// permits is step for a semaphore.
func (m lockModel) permits(s lockState, in lockInput) (lockState, bool) {
	held := map[string]int{}
	if m.Owners {
		held = holders(s.owner)
	}
	switch {
	case !in.release && s.n+in.permits > m.size, in.release && s.n < in.permits:
		return s, false
	case !in.release:
		s.n += in.permits
		held[in.owner] += in.permits
	case m.Owners && held[in.owner] < in.permits && held[histories.AnyOwner] < in.permits && in.owner != histories.AnyOwner:
		return s, false
	default:
		s.n -= in.permits
		from := in.owner
		if held[from] < in.permits && from != histories.AnyOwner {
			from = histories.AnyOwner
		}
		held[from] = max(held[from]-in.permits, 0)
	}
	if m.Owners {
		s.owner = holdersText(held)
	}
	return s, true
}

func holders(text string) map[string]int {
	held := map[string]int{}
	for text != "" {
		var name string
		var n int
		fmt.Sscanf(text, "%q=%d", &name, &n) //nolint:errcheck // holdersText wrote it
		held[name] = n
		_, text, _ = strings.Cut(text[len(fmt.Sprintf("%q=", name)):], ";")
	}
	return held
}

func holdersText(held map[string]int) string {
	var b strings.Builder
	for _, name := range slices.Sorted(maps.Keys(held)) {
		if held[name] > 0 {
			fmt.Fprintf(&b, "%q=%d;", name, held[name])
		}
	}
	return b.String()
}

// tell describes the state of a lock.
func (m lockModel) tell(s lockState) string {
	switch {
	case m.Permits:
		return fmt.Sprintf("%d of %d permits are held", s.n, m.size)
	case s.n == 0 && m.Fenced && s.top > 0:
		return fmt.Sprintf("the lock is free, and the last fence was %d", s.top)
	case s.n == 0:
		return "the lock is free"
	case !m.Owners:
		return "the lock is held"
	case m.Fenced && s.fence > 0:
		return fmt.Sprintf("%s holds the lock with fence %d", s.owner, s.fence)
	}
	return s.owner + " holds the lock"
}

// tell describes an operation.
func (in lockInput) tell(m lockModel) string {
	switch {
	case in.release:
		return "release"
	case m.Fenced && in.fence > 0:
		return fmt.Sprintf("acquire with fence %d", in.fence)
	}
	return "acquire"
}

// reads reports whether an operation never changes the state.
func (lockInput) reads() bool { return false }
