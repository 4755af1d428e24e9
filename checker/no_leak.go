package checker

import (
	"fmt"
	"strings"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// keptEach is how many goroutines more than at first an idle client may have: one
// that is cleaning up, or connecting again.
const keptEach = 3

// noLeak: when every client has released, nothing is left of them: no contender
// node, no watch on a lock path, no goroutine; and before they are closed, the clients have no more
// goroutines than when they were opened: one for each call of a long session is a leak
// too, though it ends with the session.
func noLeak(t *trace, v *Verdict) {
	v.Promised, v.Expected = true, len(t.phases) > 0
	ended, over := t.phases[histories.PhaseEnd]
	if t.census == nil || !over || t.census.Time < ended {
		if over && v.Expected {
			v.idle("nobody counted what was left at the end")
		} else if v.Expected {
			v.Outcome, v.Reason = Unknown, "the run did not come to its end"
		} else {
			v.idle("the run has no end phase")
		}
		return
	}
	left := t.census.Census
	for _, l := range []struct {
		n    int
		what string
	}{
		{len(left.Contenders), "contender node"}, {left.Watches, "watch"}, {len(left.Goroutines), "goroutine"},
	} {
		v.count(strings.TrimPrefix(words.Count(2, l.what), "2 ")+" left", l.n)
		if l.n > 0 {
			v.violate(func() Witness {
				w := t.newWitness("", ended, t.census.Time)
				w.What = fmt.Sprintf("%s left when every client had released", words.Count(l.n, l.what))
				switch l.what {
				case "contender node":
					w.What += ": " + strings.Join(left.Contenders[:min(5, l.n)], ", ")
				case "watch":
					if n := min(5, len(left.Watched)); n > 0 { // older histories do not name them
						w.What += ": " + strings.Join(left.Watched[:n], ", ")
					}
				case "goroutine":
					first, _, _ := strings.Cut(left.Goroutines[0], "\n")
					w.What += ": " + first
				}
				return w
			})
		}
	}
	if left.Clients > 0 {
		v.count("goroutines that idle clients had more than at first", left.Kept)
	}
	if n := left.Kept - keptEach*left.Clients; left.Clients > 0 && n > 0 {
		v.violate(func() Witness {
			w := t.newWitness("", ended, t.census.Time)
			w.What = fmt.Sprintf("%s, idle, had %s more than when they were opened", words.Count(left.Clients, "client"), words.Count(left.Kept, "goroutine"))
			return w
		})
	}
	v.conclude("no contender node, watch or goroutine was left", "something was left when every client had released")
}
