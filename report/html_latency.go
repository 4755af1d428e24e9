package report

import (
	"cmp"
	"slices"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"github.com/zkverify/zkverify/histories"
)

// longest is the greatest value of a histogram; longer operations count as this.
const longest = time.Hour

// latencies measures how long operations take, from invocation to answer.
type latencies struct {
	header *histories.Header
	calls  map[int]called
	rows   map[latencyKey]*latencyRow
	series map[histories.Op]*series
}

type called struct {
	recipe histories.Recipe
	at     time.Duration
}

type latencyKey struct {
	recipe histories.Recipe
	op     histories.Op
}

// latencyRow is one line of the table. Quantiles are of the successful operations.
type latencyRow struct {
	Recipe              histories.Recipe
	Op                  histories.Op
	OK, Failed, Unknown int
	Most                time.Duration
	took                *hdrhistogram.Histogram // ns
}

func newLatencies(header *histories.Header) *latencies {
	return &latencies{header, map[int]called{}, map[latencyKey]*latencyRow{}, map[histories.Op]*series{}}
}

// step handles the next event.
func (l *latencies) step(e *histories.Event) {
	switch e.Type {
	case histories.Invoke:
		l.calls[e.Process] = called{l.header.RecipeOf(locksOf(e)[0]), e.Time}
	case histories.Crash:
		delete(l.calls, e.Process)
	case histories.OK, histories.Fail, histories.Info:
		c, open := l.calls[e.Process]
		if !open {
			return
		}
		delete(l.calls, e.Process)
		key := latencyKey{c.recipe, e.Op}
		row := l.rows[key]
		if row == nil {
			row = &latencyRow{Recipe: key.recipe, Op: key.op, took: hdrhistogram.New(1000, int64(longest), 3)}
			l.rows[key] = row
		}
		switch e.Type {
		case histories.Fail:
			row.Failed++
		case histories.Info:
			row.Unknown++
		default:
			took := e.Time - c.at
			row.OK++
			row.Most = max(row.Most, took)
			row.took.RecordValue(int64(min(took, longest))) //nolint:errcheck // it is in range
			s := l.series[e.Op]
			if s == nil {
				s = &series{width: 100 * time.Millisecond}
				l.series[e.Op] = s
			}
			s.add(e.Time, took)
		}
	}
}

// sorted returns the rows in the order of recipes, then of operations.
func (l *latencies) sorted() []*latencyRow {
	var rows []*latencyRow
	for _, r := range l.rows {
		rows = append(rows, r)
	}
	order := histories.Recipes()
	slices.SortFunc(rows, func(a, b *latencyRow) int {
		return cmp.Or(slices.Index(order, a.Recipe)-slices.Index(order, b.Recipe), cmp.Compare(a.Op, b.Op))
	})
	return rows
}

// Quantile returns a quantile of the successful operations, rounded to three digits.
func (r *latencyRow) Quantile(percent float64) time.Duration {
	return min(time.Duration(r.took.ValueAtPercentile(percent)), r.Most)
}

// series is the latency of one operation over time. Its slots grow wider with the
// history, so that there are never more than maxSlots.
type series struct {
	width time.Duration
	slots []*slot // nil where there was no operation
}

type slot struct {
	took *hdrhistogram.Histogram
	most time.Duration
}

const maxSlots = 160

func (s *series) add(at, took time.Duration) {
	for at/s.width >= maxSlots {
		s.widen()
	}
	for n := int(at / s.width); len(s.slots) <= n; {
		s.slots = append(s.slots, nil)
	}
	n := at / s.width
	if s.slots[n] == nil {
		// One digit suffices: a line of a picture cannot be read more exactly.
		s.slots[n] = &slot{took: hdrhistogram.New(1000, int64(longest), 1)}
	}
	s.slots[n].took.RecordValue(int64(min(took, longest))) //nolint:errcheck // it is in range
	s.slots[n].most = max(s.slots[n].most, took)
}

// widen makes slots twice as wide.
func (s *series) widen() {
	s.width *= 2
	for i := 0; i < len(s.slots); i += 2 {
		into := s.slots[i]
		if i+1 < len(s.slots) && s.slots[i+1] != nil {
			if second := s.slots[i+1]; into == nil {
				into = second
			} else {
				into.took.Merge(second.took)
				into.most = max(into.most, second.most)
			}
		}
		s.slots[i/2] = into
	}
	s.slots = s.slots[:(len(s.slots)+1)/2]
}

// seriesData is a series for the page, times in ns.
type seriesData struct {
	Op    histories.Op `json:"op"`
	Width int64        `json:"width"`
	N     []int64      `json:"n"`
	P50   []int64      `json:"p50"`
	P99   []int64      `json:"p99"`
	Max   []int64      `json:"max"`
}

func (l *latencies) data() []seriesData {
	var out []seriesData
	for op, s := range l.series {
		d := seriesData{Op: op, Width: int64(s.width)}
		for _, slot := range s.slots {
			var n, p50, p99, most int64
			if slot != nil {
				n, most = slot.took.TotalCount(), int64(slot.most)
				p50, p99 = min(slot.took.ValueAtPercentile(50), most), min(slot.took.ValueAtPercentile(99), most)
			}
			d.N, d.P50, d.P99, d.Max = append(d.N, n), append(d.P50, p50), append(d.P99, p99), append(d.Max, most)
		}
		out = append(out, d)
	}
	slices.SortFunc(out, func(a, b seriesData) int { return cmp.Compare(a.Op, b.Op) })
	return out
}
