package nemesis

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble"
)

// check reports what is wrong with a step, on any ensemble.
func (s Step) check() error {
	kind, err := kindNamed(s.Fault)
	if err != nil {
		return err
	}
	switch {
	case s.At < 0:
		return fmt.Errorf("at is %v: want a time since the faults begin, not before", s.At)
	case s.For < 0:
		return fmt.Errorf("for is %v: want no negative duration", s.For)
	}
	return s.Pick.check(kind)
}

// check reports what a kind of fault cannot make of the pick.
func (p Pick) check(kind Kind) error {
	if p.Aim != "" && !slices.Contains(Aims(), p.Aim) {
		return fmt.Errorf("aim is %q: want one of %v", p.Aim, Aims())
	}
	if p.Links != "" && p.Links != OneLink && p.Links != AllLinks {
		return fmt.Errorf("links is %q: want %s or %s", p.Links, OneLink, AllLinks)
	}
	if err := p.Server.check(); err != nil {
		return err
	}
	switch {
	case p.Client != nil && *p.Client < 0:
		return fmt.Errorf("client is %d: clients are numbered from 0", *p.Client)
	case p.Client != nil && kind.OfServers():
		return fmt.Errorf("client: fault %s hits servers", kind.Name)
	case p.Links != "" && !kind.links:
		return fmt.Errorf("links: fault %s always hits the same ones", kind.Name)
	case p.Server != "" && !kind.server:
		return fmt.Errorf("server: fault %s does not hit a server of choice", kind.Name)
	}
	for _, name := range sortedKeys(p.Params) {
		i := slices.IndexFunc(kind.params, func(q param) bool { return q.name == name })
		if i < 0 {
			return fmt.Errorf("fault %s has no %q to decide", kind.Name, name)
		}
		if err := kind.params[i].check(p.Params[name]); err != nil {
			return err
		}
	}
	return checkLatency(p.Params)
}

// edge puts on record what the schedule said, so that it can be carried out
// again: see FromHistory.
func (s Step) edge() map[string]string {
	e := map[string]string{"for": s.For.String(), "draw": strconv.FormatUint(uint64(s.Pick.Draw), 10)}
	if s.Pick.Aim != "" {
		e["aim"] = string(s.Pick.Aim)
	}
	return e
}

// clash reports why two steps, the first the earlier, cannot both be carried out.
func clash(a, b Step) error {
	ka, errA := kindNamed(a.Fault)
	kb, errB := kindNamed(b.Fault)
	if errA != nil || errB != nil || b.At >= a.At+max(a.For, time.Nanosecond) {
		return nil
	}
	switch {
	case ka.OfServers() && kb.OfServers():
		return fmt.Errorf("%s begins while %s of %v is in force, and one fault of servers at a time is all there can be", b.Fault, a.Fault, a.At)
	case a.Pick.Aim == "" && b.Pick.Aim == "" && a.Pick.Client != nil && b.Pick.Client != nil && *a.Pick.Client == *b.Pick.Client:
		return fmt.Errorf("%s hits client %d while %s of %v does", b.Fault, *b.Pick.Client, a.Fault, a.At)
	}
	return nil
}

// number of a target such as "client 3"; false for another.
func numbered(target, what string) (int, bool) {
	text, ok := strings.CutPrefix(target, what+" ")
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(text)
	return n, err == nil
}

// Fits reports what of a schedule cannot be carried out on an ensemble with so
// many clients, whose faults end after so long. A nil ensemble has everything.
func (s Schedule) Fits(e ensemble.Ensemble, clients int, duration time.Duration) error {
	for _, step := range s.Steps {
		kind, err := kindNamed(step.Fault)
		if err != nil {
			return err
		}
		p := step.Pick
		switch n, notNumber := strconv.Atoi(string(p.Server)); {
		case e != nil && !kind.Needs.MetBy(e):
			return kind.notOn(e)
		case step.At >= duration:
			return fmt.Errorf("%s of %v would begin after the faults have ended, at %v", step.Fault, step.At, duration)
		case p.Client != nil && *p.Client >= clients:
			return fmt.Errorf("%s of %v hits client %d, and there are %d, from 0", step.Fault, step.At, *p.Client, clients)
		case e != nil && notNumber == nil && n > len(e.Servers()):
			return fmt.Errorf("%s of %v hits server %d of %d", step.Fault, step.At, n, len(e.Servers()))
		}
	}
	return nil
}

// Names are the names of the faults of a schedule, each once, in the order of List.
func (s Schedule) Names() (names []string) {
	for _, k := range List() {
		if slices.ContainsFunc(s.Steps, func(step Step) bool { return step.Fault == k.Name }) {
			names = append(names, k.Name)
		}
	}
	return names
}
