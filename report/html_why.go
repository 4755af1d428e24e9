package report

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// stepData is one of the few events that explain a violation, in a few words: the
// timeline shows them above the lanes of the parties.
type stepData struct {
	Time  int64  `json:"t"`
	What  string `json:"w"`
	Lane  int32  `json:"p"`
	Cause bool   `json:"cause,omitempty"` // it ended the session or the process on which a hold depends

	process int
}

// maxSteps bounds the steps: a picture with more of them explains nothing.
const maxSteps = 8

// ends notes the ends of the parties' sessions, which are the causes that the checker has
// found.
func (s *story) ends() {
	for _, end := range s.witness.SessionEnds {
		what := "session of %s seen to end"
		if end.Forced {
			what = "session of %s is ended by the fault"
		}
		s.steps = append(s.steps, stepData{Time: int64(end.At), What: fmt.Sprintf(what, end.Who()), Cause: true, process: end.Process})
	}
}

// leads notes event i if it led to the violation.
func (s *story) leads(i int, e *histories.Event) {
	w := s.witness
	if e.Time > w.To {
		return
	}
	if waits(w, i) {
		s.draw(stepData{Time: int64(e.Time), What: s.header.Name(e.Process) + " waits for it", process: e.Process})
	}
	for _, p := range w.Parties {
		step := stepData{Time: int64(e.Time), process: p.Process}
		switch {
		case i == p.Event:
			step.What = shortly(s.header, e)
		case e.Process != p.Process || i < p.Event || e.Time > p.To || !s.concerns(e):
		case e.Type == histories.Crash:
			step.What, step.Cause = shortly(s.header, e), true
		case e.Type == histories.Suspended, e.Type == histories.Lost, e.Type == histories.Invoke && e.Op == histories.Release && e.Depth <= 1:
			step.What = shortly(s.header, e)
		}
		again := func(d stepData) bool { return d.What == step.What }
		if step.What != "" && !slices.ContainsFunc(s.steps, again) {
			s.draw(step)
		}
	}
}

// draw adds a step, or counts it if there are enough.
func (s *story) draw(step stepData) {
	if len(s.steps) >= maxSteps {
		s.undrawn++
		return
	}
	s.steps = append(s.steps, step)
}

// said returns the sentence about the violation, a line for each of its parts.
func (s *story) said() []string {
	lines := strings.Split(s.witness.What, "; ")
	for _, w := range s.witness.Waits {
		lines = append(lines, w.String())
	}
	if s.undrawn > 0 {
		lines = append(lines, "not drawn: "+words.Count(s.undrawn, "more event")+" that led to it")
	}
	for i := range lines {
		lines[i] = clipTo(5*maxText, lines[i])
	}
	return lines
}

// concerns reports whether an event is about the lock of the violation, or about no lock.
func (s *story) concerns(e *histories.Event) bool {
	keys := locksOf(e)
	return s.witness.Lock == "" || len(keys) == 0 || slices.Contains(keys, s.witness.Lock)
}

// shortly describes an event in as few words as possible.
func shortly(h *histories.Header, e *histories.Event) string {
	who := h.Name(e.Process) + " "
	switch e.Type {
	case histories.Enqueued:
		return who + "queues"
	case histories.Suspended:
		return who + "learns that its link is down"
	case histories.Lost:
		return who + "is told of the loss"
	case histories.Crash:
		return who + "dies"
	case histories.OK:
		switch e.Op {
		case histories.Acquire, histories.TryAcquire:
			return who + "gets it"
		case histories.Read, histories.Write:
			return fmt.Sprintf("%s%ss %d", who, e.Op, e.Value)
		}
		return fmt.Sprintf("%s: %s is done", who, e.Op)
	case histories.Fail:
		return fmt.Sprintf("%s: %s fails", who, e.Op)
	case histories.Info:
		return fmt.Sprintf("%s: %s has no answer", who, e.Op)
	}
	return fmt.Sprintf("%scalls %s", who, e.Op)
}

// The greatest distance from a violation back to its cause, in lengths of the frame
// without the cause: to the fault before the end of a session, to the fault alone, and
// to the acquires of the parties. A cause that is farther away would make the
// violation too small to be seen.
const (
	faultBeforeEnd = 6
	faultAlone     = 50
	partBefore     = 5
)

// frame returns the stretch of time that explains the violation. It begins with the end
// of a party's session or with a party's crash, or with the fault that hit a party if that
// is near. It ends with the violation, or when the end of a session was seen.
func (s *story) frame() (since, until time.Duration) {
	w := s.witness
	since, until = w.From, w.To
	ended := false
	for _, d := range s.steps {
		at := time.Duration(d.Time)
		if d.Cause {
			since, ended = min(since, at), true
		}
		until = max(until, at)
	}
	back := func(to time.Duration, lengths int) {
		if length := max(until-since, time.Millisecond); to < since && since-to <= time.Duration(lengths)*length {
			since = to
		}
	}
	if f := s.fault(); f != nil {
		lengths := faultAlone
		if ended {
			lengths = faultBeforeEnd
		}
		back(f.To, lengths)
		back(f.From, lengths)
	}
	if !ended {
		for _, p := range w.Parties {
			back(p.From, partBefore)
		}
	}
	return since, until
}

// fault returns the likeliest fault if it hit a party.
func (s *story) fault() *verdict.FaultSpan {
	if len(s.witness.Faults) == 0 {
		return nil
	}
	f := &s.witness.Faults[0]
	hit := func(p verdict.Party) bool { return slices.Contains(f.Processes, p.Process) }
	if len(f.Processes) > 0 && !slices.ContainsFunc(s.witness.Parties, hit) {
		return nil
	}
	return f
}
