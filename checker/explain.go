package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// Explanation tells one violation in plain words.
type Explanation struct {
	Verdict Verdict
	Witness Witness
	// Story has what happened around it, in order: what the parties did, what the
	// session and the faults did to them, and who else used the lock just before
	// and after.
	Story []Line
	// Fencing says what a fencing token would have done.
	Fencing string

	trace *trace
}

// Line is one event of a story.
type Line struct {
	Time time.Duration `json:"time"` // on the run's clock
	Line int           `json:"line"` // of the file
	What string        `json:"what"`
}

// maxStory bounds a story: it is to be read at a glance.
const maxStory = 10

// Explain tells the first violation of a guarantee that h has. An empty guarantee
// means the first one that is violated, in the order of reports. Errors:
// [ErrNotViolated], those of [Check].
func Explain(ctx context.Context, h *histories.History, guarantee string, opts ...Option) (*Explanation, error) {
	v, err := firstViolated(ctx, h, guarantee, opts)
	if err != nil {
		return nil, err
	}
	t := newTrace(h)
	x := &Explanation{Verdict: *v, Witness: v.Witnesses[0], trace: t}
	x.Story = t.story(x.Witness)
	x.Fencing = t.fenced(v.Guarantee, x.Witness)
	return x, nil
}

// story picks the events to tell.
func (t *trace) story(w Witness) []Line {
	pick := map[int]bool{}
	must := func(i int) {
		if i >= 0 && i < len(t.events) {
			pick[i] = true
		}
	}
	sessions := map[string]bool{}
	for _, p := range w.Parties {
		must(p.Invoke)
		must(p.Event)
		if p.Session != "" {
			sessions[p.Session] = true
		}
	}
	for _, h := range t.holds {
		if slices.ContainsFunc(w.Parties, func(p Party) bool { return p.Event == h.acquire.done }) {
			must(h.endEvent)
		}
	}
	for i := range t.events {
		e := &t.events[i]
		switch {
		case e.Type == histories.Expired && sessions[e.Session]:
			must(i)
		case e.Type == histories.FaultStart && len(w.Faults) > 0 && e.Fault.ID == w.Faults[0].ID:
			must(i)
		}
	}
	// Then those nearest to the violation, of the same lock.
	var others []int
	for i := range t.events {
		e := &t.events[i]
		if !pick[i] && w.Lock != "" && slices.Contains(locksOf(e), w.Lock) && e.Type != histories.Invoke {
			others = append(others, i)
		}
	}
	away := func(i int) time.Duration {
		at := t.events[i].Time
		return max(w.From-at, at-w.To, 0)
	}
	slices.SortStableFunc(others, func(a, b int) int { return cmp.Compare(away(a), away(b)) })
	for _, i := range others {
		if len(pick) >= maxStory {
			break
		}
		pick[i] = true
	}
	var story []Line
	for i := range t.events {
		if pick[i] {
			story = append(story, Line{t.events[i].Time, histories.Line(i), t.tell(&t.events[i])})
		}
	}
	return story[:min(len(story), maxStory)]
}

// tell says an event in words.
func (t *trace) tell(e *histories.Event) string {
	who := fmt.Sprintf("process %d", e.Process)
	lock := strings.Join(locksOf(e), "+")
	with := ""
	if e.Mode != "" {
		with = " to " + string(e.Mode)
	}
	if e.Token != (histories.Token{}) {
		with += " with token " + token(e.Token)
	}
	if e.Permits > 0 {
		with += ", " + plural(e.Permits, "permit")
	}
	op := string(e.Op)
	if e.Mode != "" {
		op += " (" + string(e.Mode) + ")"
	}
	switch e.Type {
	case histories.Invoke:
		return fmt.Sprintf("%s calls %s of %s", who, op, lock)
	case histories.OK:
		switch e.Op {
		case histories.Acquire, histories.TryAcquire:
			return fmt.Sprintf("%s has %s%s", who, lock, with)
		case histories.Release:
			return fmt.Sprintf("%s has given %s back", who, lock)
		case histories.Read, histories.Write:
			return fmt.Sprintf("%s %ss %d, %s store of %s", who, e.Op, e.Value, e.Store, lock)
		case histories.SetSize:
			return fmt.Sprintf("%s has made the size of %s %d", who, lock, e.Size)
		}
		return fmt.Sprintf("%s: %s of %s is done", who, op, lock)
	case histories.Fail:
		return fmt.Sprintf("%s: %s of %s fails%s", who, op, lock, because(e.Error))
	case histories.Info:
		return fmt.Sprintf("%s: nobody knows what came of %s of %s%s", who, op, lock, because(e.Error))
	case histories.Enqueued:
		return fmt.Sprintf("%s queues for %s%s", who, lock, with)
	case histories.Lost:
		return fmt.Sprintf("%s is told that it has lost %s", who, lock)
	case histories.Expired:
		return fmt.Sprintf("the servers have ended session %s", e.Session)
	case histories.FaultStart:
		return "fault " + e.Fault.Name + on(e.Fault.Targets) + " begins"
	case histories.FaultStop:
		return "fault " + e.Fault.Name + on(e.Fault.Targets) + " ends"
	}
	return fmt.Sprintf("%s: %s of %s", who, e.Type, lock)
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + why
}

const noPart = "Fencing has no part in this."

// fenced says what a fencing token would have done about a violation.
func (t *trace) fenced(guarantee string, w Witness) string {
	switch guarantee {
	case Fencing:
		return "It is the tokens that are wrong: a store that trusts them lets an old holder write."
	case Fairness, Progress, NoLeak, Revocation, Barriers:
		return noPart
	case Permits:
		return "Fencing has no part in this: whoever holds a permit may go on, whatever token others have."
	case ReadersAndWriters:
		return "A fence refuses what a writer with an older token writes. It keeps nobody from reading what another is changing."
	}
	if len(w.Parties) < 2 {
		return noPart
	}
	a, b := w.Parties[0], w.Parties[1]
	none := histories.Token{}
	switch {
	case a.Token == none || b.Token == none:
		return "The lock gives no fencing tokens: nothing stands between the two and the data."
	case less(a.Token, b.Token):
		return fmt.Sprintf("A store behind the fence takes %s from %v, and from then on refuses %s, that of %v: no update is lost.", token(b.Token), b, token(a.Token), a)
	case less(b.Token, a.Token):
		return fmt.Sprintf("The one that came later, %v, has the older token: a store behind the fence refuses it as soon as it has seen that of %v.", b, a)
	}
	return "Both have the same token: a fence cannot tell them apart."
}
