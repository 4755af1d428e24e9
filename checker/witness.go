package checker

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Witness is one violation, with all that is needed to find it in the history
// and to tell it in a sentence.
type Witness struct {
	Lock    string        `json:"lock,omitempty"`
	From    time.Duration `json:"from"` // on the run's clock
	To      time.Duration `json:"to"`
	Open    bool          `json:"open,omitempty"` // it still was so when the history ended, at To
	What    string        `json:"what"`           // the violation in words, without the faults
	Parties []Party       `json:"parties,omitempty"`
	// Faults were active at some time in [From, To], or had stopped just
	// before; those that hit one of the parties come first.
	Faults []FaultSpan `json:"faults,omitempty"`
	// SessionEnds are those of the parties' sessions that explain it, also one that
	// was seen just after To.
	SessionEnds []SessionEnd `json:"session_ends,omitempty"`
}

// Party is one of those who were involved.
type Party struct {
	Process int             `json:"process"`
	Owner   string          `json:"owner,omitempty"`
	Session string          `json:"session,omitempty"`
	Token   histories.Token `json:"token,omitzero"`
	From    time.Duration   `json:"from"` // when its part (its hold, its write) began
	To      time.Duration   `json:"to"`
	Open    bool            `json:"open,omitempty"` // its part had no end when the history ended
	Event   int             `json:"event"`          // index of the event that made it a party
	Line    int             `json:"line"`           // of that event in the file
	Invoke  int             `json:"invoke"`         // index of the invocation that led to it
}

// FaultSpan is one fault and the time that it was active.
type FaultSpan struct {
	histories.Fault
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
	Open bool          `json:"open,omitempty"` // it was never healed
}

// String tells the witness in one or two sentences.
func (w Witness) String() string {
	if len(w.Faults) == 0 {
		return w.What + ". No fault was active."
	}
	f := w.Faults[0]
	verb := "was active"
	if !f.Open && f.To < w.From {
		verb = fmt.Sprintf("had ended %s before", ms(w.From-f.To))
	} else if f.From > w.From {
		verb = fmt.Sprintf("began %s later", ms(f.From-w.From))
	}
	more := ""
	if n := len(w.Faults) - 1; n > 0 {
		more = " (and " + words.Count(n, "other fault") + ")"
	}
	return fmt.Sprintf("%s. Fault %s%s %s%s.", w.What, f.Name, on(f.Targets), verb, more)
}

func on(targets []string) string {
	if len(targets) == 0 {
		return ""
	}
	return " on " + strings.Join(targets, ", ")
}

// String names the party as "process 3 (owner a)".
func (p Party) String() string {
	switch p.Owner { // those that say no more than the process does
	case "", defaultOwner(p.Process), fmt.Sprintf("p%d", p.Process):
		return fmt.Sprintf("process %d", p.Process)
	}
	return fmt.Sprintf("process %d (owner %s)", p.Process, p.Owner)
}

// at prints an instant of the run.
func at(d time.Duration) string { return fmt.Sprintf("%.6f s", d.Seconds()) }

// ms prints a length of time.
func ms(d time.Duration) string {
	switch {
	case d < 999500*time.Nanosecond: // else %.3g rounds it up to 1e+03
		return fmt.Sprintf("%.3g µs", float64(d)/1e3)
	case d < 10*time.Second:
		return fmt.Sprintf("%.4g ms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.4g s", d.Seconds())
}

func token(t histories.Token) string {
	if t.Sub == 0 {
		return fmt.Sprintf("%#x", t.Zxid)
	}
	return fmt.Sprintf("%#x/%d", t.Zxid, t.Sub)
}

// newWitness clips the times to the history and finds the faults that matter.
func (t *trace) newWitness(lock string, from, to time.Duration, parties ...Party) Witness {
	w := Witness{Lock: lock, From: from, To: to, Parties: parties}
	if to == forever {
		w.To, w.Open = t.end, true
	}
	w.Faults = t.faultsAround(w.From, w.To, parties)
	w.SessionEnds = t.sessionEnds(w.To, parties)
	return w
}

// maxFaults bounds the faults that one witness lists.
const maxFaults = 5

// faultsAround returns the faults active in [from, to] or stopped just before.
// Just before is two session timeouts: what a fault set in motion (a session
// that runs out, an election) is over by then.
func (t *trace) faultsAround(from, to time.Duration, parties []Party) []FaultSpan {
	before := 2 * t.header.SessionTimeout
	if before <= 0 {
		before = 5 * time.Second
	}
	var found []FaultSpan
	for _, f := range t.faults {
		if f.start <= to && f.stop >= from-before {
			s := FaultSpan{Fault: *f.Fault, From: f.start, To: f.stop}
			if f.stop == forever {
				s.To, s.Open = t.end, true
			}
			found = append(found, s)
		}
	}
	// A fault of the first party, who held or wanted the lock before the other,
	// comes before one of another party, and that before one of neither.
	hits := func(f FaultSpan) int {
		for i, p := range parties {
			if slices.Contains(f.Processes, p.Process) {
				return i
			}
		}
		return len(parties)
	}
	// The likeliest cause hit few others, and began last before the violation.
	slices.SortStableFunc(found, func(a, b FaultSpan) int {
		if c := cmp.Or(hits(a)-hits(b), len(a.Processes)-len(b.Processes)); c != 0 {
			return c
		}
		if late := b2i(a.From > from) - b2i(b.From > from); late != 0 {
			return late
		}
		return int(b.From - a.From)
	})
	return found[:min(len(found), maxFaults)]
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}
