package explain

import (
	"cmp"
	"fmt"
	"html"
	"slices"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/zkverify/zkverify/checker/internal/facts"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
)

// Scene is the input of Porcupine's drawing: a model, and operations with their descriptions.
type Scene struct {
	model    porcupine.Model
	ops      []porcupine.Operation // with their processes as clients, until they are laid out
	from, to time.Duration
	rows     []rowName
}

// rowName names a row of the picture at its left end.
type rowName struct {
	row  int
	name string
}

// newScene adds descriptions to a model. The description of an operation stands in its output,
// which these models do not use, and the text of its tooltip in its metadata. Porcupine puts
// tooltips into the page as HTML, so a lock's name must be escaped.
func newScene(m porcupine.Model, state func(any) string) *Scene {
	m.DescribeOperation = func(_, output any) string { return output.(string) }
	m.DescribeOperationMetadata = func(tells any) string { return html.EscapeString(tells.(string)) }
	m.DescribeState = func(s any) string { return html.EscapeString(state(s)) }
	return &Scene{model: m, from: facts.Forever}
}

// add adds an operation of a process in [call, ret].
func (s *Scene) add(process int, input any, call, ret time.Duration, line int, says string) {
	tells := fmt.Sprintf("%s; from %s ", says, verdict.At(call))
	if ret == facts.Forever {
		tells += "on, at any time"
	} else {
		tells += "to " + verdict.At(ret)
	}
	if line > 0 {
		tells += fmt.Sprintf("; line %d of the history", line)
	}
	s.ops = append(s.ops, porcupine.Operation{
		ClientId: process, Input: input, Output: says, Metadata: tells, Call: int64(call), Return: int64(ret),
	})
	s.from, s.to = min(s.from, call), max(s.to, call)
	if ret != facts.Forever {
		s.to = max(s.to, ret)
	}
}

// layOut puts operations that overlap on rows of their own: an operation that was never
// answered overlaps all later ones of its process. Porcupine numbers the rows; a box at the
// left end of each names its process, as the header does.
func (s *Scene) layOut(h *histories.Header) {
	slices.SortStableFunc(s.ops, func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	type row struct {
		process int
		end     int64
	}
	var rows []row
	chosen := make([]int, len(s.ops))
	for i := range s.ops {
		o := &s.ops[i]
		o.Return = min(o.Return, int64(s.to)+1) // just after all others, and not far to the right
		at := slices.IndexFunc(rows, func(r row) bool { return r.process == o.ClientId && r.end < o.Call })
		if at < 0 {
			at, rows = len(rows), append(rows, row{process: o.ClientId})
		}
		rows[at].end, chosen[i] = o.Return, at
	}
	order := make([]int, len(rows))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(rows[a].process, rows[b].process) })
	place := make([]int, len(rows))
	for i, r := range order {
		place[r] = i
		s.rows = append(s.rows, rowName{i, h.Name(rows[r].process)})
	}
	for i := range s.ops {
		s.ops[i].ClientId = place[chosen[i]]
	}
}

// nearest returns at most n elements, in their order: those that are wanted, then those nearest
// to the violation. At most a tenth may come after the violation: Porcupine's search ends
// there, and shows nothing of them.
func nearest[T any](w verdict.Witness, all []T, n int, wanted func(T) bool, when func(T) facts.Span) []T {
	away := func(x T) time.Duration {
		if wanted(x) {
			return -1
		}
		s := when(x)
		return max(w.From-s.To, s.From-w.To, 0)
	}
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(away(all[a]), away(all[b])) })
	after := 0
	order = slices.DeleteFunc(order, func(i int) bool {
		if wanted(all[i]) || when(all[i]).From <= w.To {
			return false
		}
		after++
		return after > n/10
	})
	order = order[:min(n, len(order))]
	slices.Sort(order)
	out := make([]T, len(order))
	for i, at := range order {
		out[i] = all[at]
	}
	return out
}

// isParty reports whether an operation belongs to a party of a witness.
func isParty(w verdict.Witness, o *facts.Op) bool {
	return slices.ContainsFunc(w.Parties, func(p verdict.Party) bool { return p.Invoke == o.Invoke })
}

// annotations returns the boxes below the processes and at the left ends of their rows.
func (x *Drawing) annotations(s *Scene) []porcupine.Annotation {
	const (
		grey, red, orange, blue = "#dddddd", "#f4b6b6", "#fbd9a5", "#bcd4f2"
		most                    = 100 // of a kind: very many faults must not hide the operations
	)
	from, to := min(s.from, x.Witness.From), max(s.to, x.Witness.To)
	var out []porcupine.Annotation
	for _, r := range s.rows {
		out = append(out, porcupine.Annotation{ClientId: r.row, Start: int64(from) - 1, End: int64(from) - 1, Description: r.name, BackgroundColor: grey, Details: "what " + r.name + " did"})
	}
	counts := map[string]int{}
	ends := map[string]time.Duration{}
	add := func(tag, color string, a, b time.Duration, says, details string) {
		if b < from || a > to || counts[tag] == most {
			return
		}
		counts[tag]++
		a, b = max(a, from), min(b, to)
		row := tag
		for i := 2; ; i++ { // those that overlap stand on rows of their own
			if end, taken := ends[row]; !taken || end < a {
				break
			}
			row = fmt.Sprintf("%s %d", tag, i)
		}
		ends[row] = b
		out = append(out, porcupine.Annotation{Tag: row, Start: int64(a), End: int64(b), Description: says, Details: details, BackgroundColor: color})
	}
	add("violation", red, x.Witness.From, x.Witness.To, "violated: "+x.Guarantee, x.Witness.What)
	for _, f := range x.Trace.Faults.All {
		add("faults", orange, f.Start, f.Stop, f.Name+verdict.On(f.Targets), fmt.Sprintf("fault %s%s, from %s to %s", f.Name, verdict.On(f.Targets), verdict.At(f.Start), verdict.At(min(f.Stop, x.Trace.End))))
	}
	for i := range x.Excerpt.Events {
		e := &x.Excerpt.Events[i]
		says := atMost(80, Tell(&x.Trace.Header, e))
		details := fmt.Sprintf("%s, at %s, line %d of the history", Tell(&x.Trace.Header, e), verdict.At(e.Time), histories.Line(x.Excerpt.Index(i)))
		switch {
		case e.Type == histories.Lost && slices.Contains(facts.LocksOf(e), x.Witness.Lock):
			add("losses", blue, e.Time, e.Time, says, details)
		case e.Type == histories.Expired, e.Type == histories.Crash:
			add("ends of sessions", blue, e.Time, e.Time, says, details)
		}
	}
	return out
}
