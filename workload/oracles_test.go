package workload_test

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"time"

	"github.com/zkverify/zkverify/histories"
)

// The judgements that the tests of drivers make themselves, from the history alone and from the
// instants that leave no doubt: an acquire that has returned, a release that has not been
// called. Each oracle returns the violations that it finds.

const forever = time.Duration(math.MaxInt64)

// operation is an invocation with its completion.
type operation struct {
	histories.Event               // the completion; the invocation while there is none
	call, ret       time.Duration // ret is forever when it was not answered
}

func (o operation) ok() bool { return o.Type == histories.OK }

// done returns the instant from which the operation can no longer take effect.
func (o operation) done(h *histories.History) time.Duration {
	if o.Type == histories.Info {
		return o.ret + 2*h.Header.SessionTimeout
	}
	return o.ret
}

// operations returns the operations of a recipe, by invocation.
func operations(h *histories.History, recipe histories.Recipe) []operation {
	var out []operation
	open := make(map[int]int)
	for _, e := range h.Events {
		name := e.Lock
		if e.Parts != nil {
			name = e.Parts[0].Lock
		}
		if h.Header.Locks[name].Recipe != recipe {
			continue
		}
		switch e.Type {
		case histories.Invoke:
			open[e.Process] = len(out)
			out = append(out, operation{e, e.Time, forever})
		case histories.OK, histories.Fail, histories.Info:
			o := &out[open[e.Process]]
			o.Event, o.ret = e, e.Time
		}
	}
	return out
}

// hold is the lease of one acquire, for as long as its owner certainly had it.
type hold struct {
	histories.Event
	call, from, to time.Duration
}

// holds returns the outermost holds of a recipe's locks, by their beginning.
func holds(h *histories.History, recipe histories.Recipe) []hold {
	var out []hold
	ends := func(e histories.Event) {
		for i := range out {
			x := &out[i]
			if x.to == forever && x.Process == e.Process && (e.Type == histories.Crash || e.Type == histories.Closing || x.Lock == e.Lock && x.Mode == e.Mode && slices.Equal(locks(x.Parts), locks(e.Parts))) {
				x.to = e.Time
			}
		}
	}
	for _, o := range operations(h, recipe) {
		if o.ok() && o.Depth == 1 && (o.Op == histories.Acquire || o.Op == histories.TryAcquire) {
			out = append(out, hold{o.Event, o.call, o.ret, forever})
		}
	}
	slices.SortFunc(out, func(a, b hold) int { return cmp.Compare(a.from, b.from) })
	began := out
	out = nil
	for _, e := range h.Events {
		for len(began) > 0 && began[0].from <= e.Time {
			out, began = append(out, began[0]), began[1:]
		}
		if e.Type == histories.Invoke && e.Op == histories.Release && e.Depth == 1 || e.Type == histories.Lost || e.Type == histories.Crash || e.Type == histories.Closing {
			ends(e)
		}
	}
	return out
}

func locks(parts []histories.Part) (out []string) {
	for _, p := range parts {
		out = append(out, p.Lock)
	}
	return out
}

// readersAndWriters: no owner holds the lock to write while another holds it at all; and a
// reader reads the same value twice in one hold.
func readersAndWriters(h *histories.History) (wrong []string) {
	all := holds(h, histories.ReadWrite)
	for i, a := range all {
		for _, b := range all[i+1:] {
			if a.Lock == b.Lock && a.Owner != b.Owner && (a.Mode == histories.ModeWrite || b.Mode == histories.ModeWrite) && b.from < a.to {
				wrong = append(wrong, fmt.Sprintf("process %d (%s) and process %d (%s) both hold %s at %v", a.Process, a.Mode, b.Process, b.Mode, a.Lock, b.from))
			}
		}
	}
	reads := operations(h, histories.ReadWrite)
	for _, x := range all {
		if x.Mode != histories.ModeRead {
			continue
		}
		var seen []int64
		for _, o := range reads {
			if o.Op == histories.Read && o.Mode == histories.ModeRead && o.Process == x.Process && o.call >= x.from && o.ret <= x.to {
				seen = append(seen, o.Value)
			}
		}
		if len(seen) > 0 && slices.Min(seen) != slices.Max(seen) {
			wrong = append(wrong, fmt.Sprintf("process %d reads %v in one hold of %s", x.Process, seen, x.Lock))
		}
	}
	return wrong
}

// permits: the permits of a semaphore that are held at any instant are no more than its size
// was when the last of them was granted: at some instant between the invocation of the last
// acquire and its return.
func permits(h *histories.History, recipe histories.Recipe) (wrong []string) {
	all := holds(h, recipe)
	var sizes []operation
	for _, o := range operations(h, recipe) {
		if o.Op == histories.SetSize && o.Type != histories.Fail {
			sizes = append(sizes, o)
		}
	}
	for _, last := range all {
		sum, asked := 0, time.Duration(0)
		for _, x := range all {
			if x.Lock == last.Lock && x.from <= last.from && last.from < x.to {
				sum += x.Permits
				asked = max(asked, x.call)
			}
		}
		if most := largest(h, last.Lock, sizes, asked, last.from); sum > most {
			wrong = append(wrong, fmt.Sprintf("%d permits of %s are held at %v, when there are %d at most", sum, last.Lock, last.from, most))
		}
	}
	return wrong
}

// largest returns the greatest size that a semaphore may have had at some instant in [from,
// to].
func largest(h *histories.History, name string, sizes []operation, from, to time.Duration) int {
	// A size is over when a later change has certainly been made.
	over := func(since time.Duration) bool {
		return slices.ContainsFunc(sizes, func(o operation) bool { return o.Lock == name && o.ok() && o.call > since && o.ret < from })
	}
	most := 0
	if !over(-1) {
		most = h.Header.Locks[name].Size
	}
	for _, o := range sizes {
		if o.Lock == name && o.call <= to && !over(o.done(h)) {
			most = max(most, o.Size)
		}
	}
	return most
}

// requests: a holder is asked to release only if a client has sent a request, and is asked if
// it goes on holding for longer than the bound.
func requests(h *histories.History) (wrong []string) {
	all := append(operations(h, histories.Revocation), operations(h, histories.Election)...)
	held := holds(h, histories.Revocation)
	told := make(map[histories.Token][]time.Duration)
	for _, e := range h.Events {
		if e.Type != histories.RevokeRequested {
			continue
		}
		told[e.Token] = append(told[e.Token], e.Time)
		if !slices.ContainsFunc(all, func(o operation) bool {
			return o.Op == histories.Revoke && o.Token == e.Token && o.call <= e.Time
		}) {
			wrong = append(wrong, fmt.Sprintf("process %d is asked to release %s, and no client has asked", e.Process, e.Lock))
		}
	}
	for _, o := range all {
		for _, x := range held {
			if o.Op != histories.Revoke || !o.ok() || o.Token != x.Token {
				continue
			}
			by := max(o.ret, x.from) + h.Header.Promises.RevokeBound
			if x.to > by && !slices.ContainsFunc(told[x.Token], func(at time.Duration) bool { return o.call <= at && at <= by }) {
				wrong = append(wrong, fmt.Sprintf("process %d holds %s until %v and is not told of the request of %v", x.Process, x.Lock, x.to, o.ret))
			}
		}
	}
	return wrong
}

// passes: no client passes a barrier that was up for all of the wait.
func passes(h *histories.History) (wrong []string) {
	all := operations(h, histories.Barrier)
	for _, up := range all {
		if up.Op != histories.Set || !up.ok() {
			continue
		}
		down := forever
		for _, o := range all {
			if o.Op == histories.Remove && o.Lock == up.Lock && o.done(h) >= up.call {
				down = min(down, o.call)
			}
		}
		for _, o := range all {
			if o.Op == histories.Wait && o.ok() && o.Lock == up.Lock && o.call >= up.ret && o.ret < down {
				wrong = append(wrong, fmt.Sprintf("process %d passes %s from %v to %v, and it is up from %v to %v", o.Process, o.Lock, o.call, o.ret, up.ret, down))
			}
		}
	}
	return wrong
}

// rounds: no client is inside a double barrier before so many members have come, nor outside
// before all that were inside leave. A client whose process crashed or whose session ended is
// no longer a member.
func rounds(h *histories.History) (wrong []string) {
	type round struct {
		lock       string
		generation int
	}
	gone := make(map[int]bool)
	ended := make(map[string]bool)
	for _, e := range h.Events {
		switch e.Type {
		case histories.Crash:
			gone[e.Process] = true
		case histories.Expired:
			ended[e.Session] = true
		}
	}
	members := make(map[round][]operation)
	for _, o := range operations(h, histories.DoubleBarrier) {
		r := round{o.Lock, o.Generation}
		members[r] = append(members[r], o)
	}
	for r, all := range members {
		for _, p := range all {
			if !p.ok() {
				continue
			}
			came := 0
			for _, o := range all {
				if o.Op == histories.Enter && o.call <= p.ret {
					came++
				}
			}
			if p.Op == histories.Enter && came < h.Header.Locks[r.lock].Size {
				wrong = append(wrong, fmt.Sprintf("process %d enters round %d of %s at %v, when %d have come", p.Process, r.generation, r.lock, p.ret, came))
			}
			for _, o := range all {
				if p.Op != histories.Leave || o.Op != histories.Enter || !o.ok() || gone[o.Process] || ended[o.Session] {
					continue
				}
				if !slices.ContainsFunc(all, func(l operation) bool {
					return l.Op == histories.Leave && l.Process == o.Process && l.call <= p.ret
				}) {
					wrong = append(wrong, fmt.Sprintf("process %d leaves round %d of %s at %v, and process %d is inside", p.Process, r.generation, r.lock, p.ret, o.Process))
				}
			}
		}
	}
	return wrong
}
