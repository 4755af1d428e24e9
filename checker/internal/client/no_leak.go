package client

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// keptEach is how many more goroutines than at first an idle client may have, such as one that
// cleans up or connects again.
const keptEach = 3

// mostNamed bounds the nodes and watches that a violation names.
const mostNamed = 5

// noLeak judges that clients leave nothing behind when all have released: no contender node, no
// watch on a lock path, no goroutine. Before they are closed, the clients must have no more
// goroutines than when they were opened: one goroutine for each call of a long session is a
// leak too, though it ends with the session.
func noLeak(t *facts.Trace, v *verdict.Verdict) {
	v.Promised, v.Expected = true, len(t.Phases) > 0
	ended, over := t.Phases[histories.PhaseEnd]
	if t.Census == nil || !over || t.Census.Time < ended {
		if over && v.Expected {
			v.Idle("the run did not count what was left at the end")
		} else if v.Expected {
			v.Outcome, v.Reason = verdict.Unknown, "the run did not come to its end"
		} else {
			v.Idle("the run has no end phase")
		}
		return
	}
	left := t.Census.Census
	for _, l := range []struct {
		n    int
		what string
	}{
		{len(left.Contenders), "contender node"}, {left.Watches, "watch"}, {len(left.Goroutines), "goroutine"},
	} {
		if left.Uncounted[l.what] == "" {
			v.Count(strings.TrimPrefix(words.Count(2, l.what), "2 ")+" left", l.n)
		}
		if l.n > 0 {
			v.Violate(func() verdict.Witness {
				w := judge.NewWitness(t, "", ended, t.Census.Time)
				w.What = fmt.Sprintf("%s left when every client had released", words.Count(l.n, l.what))
				switch l.what {
				case "contender node":
					w.What += ": " + words.Some(left.Contenders, mostNamed, l.n)
				case "watch":
					if len(left.Watched) > 0 { // older histories do not list them
						w.What += ": " + words.Some(left.Watched, mostNamed, l.n)
					}
				case "goroutine":
					first, _, _ := strings.Cut(left.Goroutines[0], "\n")
					w.What += ": " + words.Some([]string{first}, 1, l.n)
				}
				return w
			})
		}
	}
	if left.Clients > 0 {
		v.Count("goroutines that idle clients had more than at first", left.Kept)
	}
	if n := left.Kept - keptEach*left.Clients; left.Clients > 0 && n > 0 {
		v.Violate(func() verdict.Witness {
			w := judge.NewWitness(t, "", ended, t.Census.Time)
			w.What = fmt.Sprintf("%s, idle, had %s more than when they were opened", words.Count(left.Clients, "client"), words.Count(left.Kept, "goroutine"))
			return w
		})
	}
	if len(left.Uncounted) > 0 && v.Violations == 0 {
		v.Outcome, v.Reason = verdict.Unknown, "not all that may be left could be counted: "+notCounted(left)
		return
	}
	v.Conclude("no contender node, watch or goroutine was left", "something was left when every client had released")
}

// notCounted names the things that could not be counted, with the reason.
func notCounted(c *histories.Census) string {
	var all []string
	for _, what := range slices.Sorted(maps.Keys(c.Uncounted)) {
		all = append(all, strings.TrimPrefix(words.Count(2, what), "2 ")+verdict.Because(c.Uncounted[what]))
	}
	return strings.Join(all, "; ")
}
