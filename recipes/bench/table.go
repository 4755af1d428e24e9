package main

import (
	"math"
	"slices"
)

// measure is one figure of one case, by peer. Repetition i of one peer and
// repetition i of another were neighbors in time.
type measure struct {
	Case    string               `json:"case"`
	Title   string               `json:"title"`
	Unit    unit                 `json:"unit"`
	Peers   []string             `json:"peers"` // in the order of the table; the first is the subject
	Samples map[string][]float64 `json:"samples"`
	Per     map[string]perCycle  `json:"per_cycle,omitempty"`
	Bounds  []bound              `json:"bounds,omitempty"`
	Notes   map[string]string    `json:"notes,omitempty"` // why a peer has no figure, or few
}

// unit is the unit of a figure. Times are in nanoseconds.
type unit string

const (
	duration unit = "ns"
	count    unit = "count"
	size     unit = "bytes"
)

// perCycle is the average cost of one cycle of the case. Zero means unknown.
type perCycle struct {
	Nanoseconds float64 `json:"ns"`
	Requests    float64 `json:"requests"`
	Bytes       float64 `json:"bytes"`
	Mallocs     float64 `json:"mallocs"`
}

// bound is a target for the first peer of a measure: its figure, as a ratio to
// that of another unless Against is empty, is at most Limit.
type bound struct {
	Against string  `json:"against,omitempty"`
	Limit   float64 `json:"limit"`
}

// verdict is the verdict on a bound.
type verdict string

const (
	met     verdict = "met"
	missed  verdict = "MISSED"
	unknown verdict = "unknown" // a figure is missing
)

// subject returns the peer that the measure is about.
func (m *measure) subject() string { return m.Peers[0] }

// ratio returns the subject's figure divided by that of a peer.
func (m *measure) ratio(peer string) float64 {
	return median(ratios(m.Samples[m.subject()], m.Samples[peer]))
}

// judge returns the verdict on a bound.
func (m *measure) judge(b bound) verdict {
	value := median(m.Samples[m.subject()])
	if b.Against != "" {
		value = m.ratio(b.Against)
	}
	switch {
	case math.IsNaN(value):
		return unknown
	case value <= b.Limit:
		return met
	}
	return missed
}

// median returns the median of the figures, NaN when there are none. Of an even number it
// is the mean of the two in the middle.
func median(figures []float64) float64 {
	if len(figures) == 0 {
		return math.NaN()
	}
	sorted := slices.Sorted(slices.Values(figures))
	middle := len(sorted) / 2
	if len(sorted)%2 == 1 {
		return sorted[middle]
	}
	return (sorted[middle-1] + sorted[middle]) / 2
}

// ratios returns the ratios of figures that were taken in the same repetition. One peer may
// have fewer repetitions than the other, its first ones.
func ratios(a, b []float64) []float64 {
	var all []float64
	for i := range min(len(a), len(b)) {
		if b[i] != 0 {
			all = append(all, a[i]/b[i])
		}
	}
	return all
}
