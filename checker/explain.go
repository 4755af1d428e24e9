package checker

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
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

	guarantee Guarantee
	trace     *trace
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
	g, err := guaranteeNamed(v.Guarantee)
	if err != nil {
		return nil, err
	}
	t := newTrace(h)
	x := &Explanation{Verdict: *v, Witness: v.Witnesses[0], guarantee: g, trace: t}
	x.Story = t.story(x.Witness, h.LineOf)
	x.Fencing = g.fenced(x.Witness)
	return x, nil
}

// story picks the events to tell, and names their lines.
func (t *trace) story(w Witness, line func(event int) int) []Line {
	pick := map[int]bool{}
	must := func(i int) {
		if i >= 0 && i < len(t.events) {
			pick[i] = true
		}
	}
	for _, p := range w.Parties {
		if o := t.opOf(p.Invoke); o == nil || o.store == "" || o.done < 0 {
			must(p.Invoke) // of a read or a write, the answer says it all
		}
		must(p.Event)
	}
	for _, p := range w.Parties {
		h := t.under(t.opOf(p.Invoke))
		if h == nil {
			continue
		}
		must(h.acquire.done)
		must(h.endEvent)
		if read := t.readBefore(p.Invoke); read != nil {
			must(read.done)
		}
	}
	for i := range t.causes(w) {
		must(i)
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
			story = append(story, Line{t.events[i].Time, line(i), tellEvent(&t.events[i])})
		}
	}
	return story[:min(len(story), maxStory)]
}

// tellEvent says an event in words.
func tellEvent(e *histories.Event) string {
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
		with += ", " + words.Count(e.Permits, "permit")
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
	case histories.Closing:
		return fmt.Sprintf("%s closes its client, and gives back all that it holds", who)
	case histories.Closed:
		return fmt.Sprintf("%s has closed its client", who)
	case histories.Says:
		return tellSaying(e, who, lock)
	case histories.Expired:
		return fmt.Sprintf("the servers have ended session %s", e.Session)
	case histories.ServerSeen:
		return fmt.Sprintf("server %d is found %s", e.Server.ID, serverStates[e.Server.State])
	case histories.FaultStart:
		return "fault " + e.Fault.Name + on(e.Fault.Targets) + " begins"
	case histories.FaultStop:
		return "fault " + e.Fault.Name + on(e.Fault.Targets) + " ends"
	}
	return fmt.Sprintf("%s: %s of %s", who, e.Type, lock)
}

// serverStates says what servers are found to be.
var serverStates = map[histories.ServerState]string{
	histories.Leading: "leading", histories.Following: "following", histories.Observing: "observing", histories.Alone: "serving alone",
	histories.Electing: "electing, serving nobody", histories.Silent: "not answering", histories.Down: "down",
}

func because(why string) string {
	if why == "" {
		return ""
	}
	return ": " + strings.ReplaceAll(why, "\n", "; ")
}

const noPart = "Fencing has no part in this."

// fenced says what a fencing token would have done about a violation.
func (g Guarantee) fenced(w Witness) string {
	if g.fencing != "" {
		return g.fencing
	}
	if len(w.Parties) < 2 {
		return noPart
	}
	a, b := w.Parties[0], w.Parties[1]
	none := histories.Token{}
	switch {
	case a.Token == none || b.Token == none:
		return "The lock gives no fencing tokens: nothing stands between the two and the data."
	case a.Token.Less(b.Token):
		return fmt.Sprintf("A store behind the fence takes %s from %v, and from then on refuses %s, that of %v: no update is lost.", token(b.Token), b, token(a.Token), a)
	case b.Token.Less(a.Token):
		return fmt.Sprintf("The one that came later, %v, has the older token: a store behind the fence refuses it as soon as it has seen that of %v.", b, a)
	}
	return "Both have the same token: a fence cannot tell them apart."
}
