package holding

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sort"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/internal/judge"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories/service"
)

// sizeWrites finds changes of a size that were carried out twice, by a log of the servers whose
// times are exact: a change whose answer was lost is repeated, and must not undo a change by another
// client that came in between. It also finds changes that succeeded although no client wrote to the size
// meanwhile: a change is done when another one has come in between, but not by one from before.
//
// While a change is under way, its sessions write to the size once for it. They may write for other
// changes too: those that clients of the same session make at the same time, and earlier ones that
// failed. Each of these is allowed one write.
type sizeWrites struct {
	changes map[string][]*facts.Op // by lock
}

// take keeps a change, if the log can show its writes.
func (s *sizeWrites) take(t *facts.Trace, o *facts.Op) {
	if t.Service == nil || !t.Service.Exact() {
		return
	}
	if s.changes == nil {
		s.changes = map[string][]*facts.Op{}
	}
	s.changes[o.Lock] = append(s.changes[o.Lock], o)
}

// judge reports the changes that were carried out twice, or never, and whether there is one.
func (s *sizeWrites) judge(t *facts.Trace, v *verdict.Verdict) (found bool) {
	for _, lock := range slices.Sorted(maps.Keys(s.changes)) {
		changes, node := s.changes[lock], t.Service.SizeOf(lock)
		if node == nil {
			continue
		}
		for _, o := range changes {
			all, writes := writesOf(t, node, o)
			if o.OK() && all == 0 {
				found = true
				v.Violate(func() verdict.Witness { return setNever(t, o) })
			}
			if len(writes) < 2 {
				continue
			}
			others := 0
			for _, p := range changes {
				if p != o && p.Call <= o.Ret && (p.Ret >= o.Call || !p.OK()) && mayShare(o, p) {
					others++
				}
			}
			if len(writes) > 1+others {
				found = true
				v.Violate(func() verdict.Witness { return setTwice(t, o, writes) })
			}
		}
	}
	return found
}

// writesOf returns the number of writes to a size while a change was under way, and those by its sessions.
func writesOf(t *facts.Trace, size *service.Node, o *facts.Op) (all int, own []service.Write) {
	end := min(o.Ret, o.By.Retired, t.End)
	first := sort.Search(len(size.Writes), func(i int) bool { return size.Writes[i].Time >= o.Call })
	for _, w := range size.Writes[first:] {
		if w.Time > end {
			break
		}
		all++
		if o.Was(cmp.Or(w.By, size.Session)) {
			own = append(own, w)
		}
	}
	return all, own
}

// mayShare reports whether two changes may have used the same session. One that went on in another
// session may have used others in between.
func mayShare(o, p *facts.Op) bool {
	return p.ChangedSession() || slices.ContainsFunc(o.Sessions(), p.Was)
}

// setTwice returns the witness of a change that was carried out twice.
func setTwice(t *facts.Trace, o *facts.Op, writes []service.Write) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, o.Call, min(o.Ret, t.End), p)
	w.What = fmt.Sprintf("%v called %s of %q to %d at %s, which wrote the size by %#x and then by %#x", p, o.Kind, o.Lock, o.Size, verdict.At(o.Call), writes[0].Zxid, writes[len(writes)-1].Zxid)
	return w
}

// setNever returns the witness of a change that succeeded and was not carried out.
func setNever(t *facts.Trace, o *facts.Op) verdict.Witness {
	p := judge.OpParty(o)
	w := judge.NewWitness(t, o.Lock, o.Call, o.Ret, p)
	w.What = fmt.Sprintf("%v called %s of %q to %d at %s, which succeeded at %s, and no client wrote the size meanwhile", p, o.Kind, o.Lock, o.Size, verdict.At(o.Call), verdict.At(o.Ret))
	return w
}
