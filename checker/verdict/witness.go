package verdict

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// Witness is one violation, with all that is needed to find it in the history and to describe
// it in a sentence.
type Witness struct {
	Lock    string        `json:"lock,omitempty"`
	From    time.Duration `json:"from"` // on the run's clock
	To      time.Duration `json:"to"`
	Open    bool          `json:"open,omitempty"` // it still lasted when the history ended, at To
	What    string        `json:"what"`           // the violation in words, without the faults
	Parties []Party       `json:"parties,omitempty"`
	// Faults were active at some time in [From, To], or had stopped just before. Those that hit
	// one of the parties come first.
	Faults []FaultSpan `json:"faults,omitempty"`
	// MoreFaults is the number of the faults that Faults leaves out.
	MoreFaults int `json:"more_faults,omitempty"`
	// SessionEnds are the ends of parties' sessions that explain the violation. They may have
	// been seen just after To.
	SessionEnds []SessionEnd `json:"session_ends,omitempty"`
	// Order is the order of two holds that must not overlap, by the servers' logs; empty if
	// that is not known.
	Order Order `json:"order,omitempty"`
	// Untold is set if the violation is that a holder was not told of its loss.
	Untold bool `json:"untold,omitempty"`
	// Waits are the locks that a party waits for, with all who wait for them and why that does
	// not end.
	Waits []Wait `json:"waits,omitempty"`
}

// Order tells whether the servers or a client erred when two holders had a lock.
type Order string

// The orders.
const (
	// GrantedEarly means that the later holder was granted the lock while the node of the
	// earlier one existed: its own node was not the first on the servers.
	GrantedEarly Order = "granted early"
	// InTurn means that the node of the earlier holder had been deleted before the later one was
	// granted the lock: the servers granted it to one after the other, and the earlier holder did
	// not know.
	InTurn Order = "in turn"
)

// UnmarshalText reads an order, also by the name that it had in earlier versions.
func (o *Order) UnmarshalText(text []byte) error {
	if *o = Order(text); *o == "belief outlived" {
		*o = InTurn
	}
	return nil
}

// Party is one of the processes that are involved in a violation.
type Party struct {
	Process int             `json:"process"`
	Name    string          `json:"name,omitempty"` // of its client and process, as in "client 4 (process 14)"
	Owner   string          `json:"owner,omitempty"`
	Session string          `json:"session,omitempty"`
	Token   histories.Token `json:"token,omitzero"`
	From    time.Duration   `json:"from"` // when its part (its hold, its write) began
	To      time.Duration   `json:"to"`
	Open    bool            `json:"open,omitempty"` // its part had no end when the history ended
	Event   int             `json:"event"`          // index of the event that made it a party
	Line    int             `json:"line"`           // of that event in the file
	Invoke  int             `json:"invoke"`         // index of the invocation of that event's operation
}

// FaultSpan is a fault with the time in which it was active.
type FaultSpan struct {
	histories.Fault
	From time.Duration `json:"from"`
	To   time.Duration `json:"to"`
	Open bool          `json:"open,omitempty"` // it was never healed
}

// String describes the witness in a few sentences.
func (w Witness) String() string {
	what := w.Told()
	if len(w.Faults) == 0 {
		return what + ". No fault was active."
	}
	f := w.Faults[0]
	verb := "was active"
	if !f.Open && f.To < w.From {
		verb = fmt.Sprintf("had ended %s before", Ms(w.From-f.To))
	} else if f.From > w.From {
		verb = fmt.Sprintf("began %s later", Ms(f.From-w.From))
	}
	more := ""
	if n := len(w.Faults) - 1 + w.MoreFaults; n > 0 {
		more = " (and " + words.Count(n, "other fault") + ")"
	}
	return fmt.Sprintf("%s. Fault %s%s %s%s.", what, f.Title(), On(f.Targets), verb, more)
}

// Told returns the violation in words, with the waits that it is about, without the faults.
func (w Witness) Told() string {
	what := w.What
	for _, x := range w.Waits {
		text := x.String()
		what += ". " + strings.ToUpper(text[:1]) + text[1:]
	}
	return what
}

// On returns the targets of a fault as part of a sentence; "" if they are not known.
func On(targets []string) string {
	if len(targets) == 0 {
		return ""
	}
	return " on " + strings.Join(targets, ", ")
}

// String names the party as "client 4 (process 14)", or as "process 3 (owner a)" if its history does
// not have the number of clients.
func (p Party) String() string {
	name := nameOf(p.Name, p.Process)
	switch p.Owner { // owners that add nothing to the process
	case "", fmt.Sprintf("process %d", p.Process), fmt.Sprintf("p%d", p.Process):
		return name
	}
	if inside, ok := strings.CutSuffix(name, ")"); ok {
		return inside + ", owner " + p.Owner + ")"
	}
	return name + " (owner " + p.Owner + ")"
}

// nameOf returns the name of a process, its number if it has none.
func nameOf(name string, process int) string {
	return cmp.Or(name, fmt.Sprintf("process %d", process))
}

// SessionEnd is the end of a party's session: the nodes of the lock went with the session.
type SessionEnd struct {
	Process int           `json:"process"`
	Name    string        `json:"name,omitempty"` // as of a Party
	Session string        `json:"session"`
	At      time.Duration `json:"at"`               // when it was seen; of a forced one, the time by which the fault had ended it
	Forced  bool          `json:"forced,omitempty"` // a fault forced it to expire
}

// Who returns the name of the process.
func (e SessionEnd) Who() string { return nameOf(e.Name, e.Process) }

// String returns the end as part of a sentence.
func (e SessionEnd) String() string {
	if e.Forced {
		return fmt.Sprintf("the session of %s had been forced to expire by %s", e.Who(), At(e.At))
	}
	return fmt.Sprintf("the session of %s was seen to end at %s", e.Who(), At(e.At))
}

// Ending returns the end of the first of the parties' sessions that ended, as the rest of a
// sentence; "" if none did.
func (w *Witness) Ending() string {
	if len(w.SessionEnds) == 0 {
		return ""
	}
	return "; " + w.SessionEnds[0].String()
}
