package field

import (
	"slices"
	"time"
)

// repeat is one of a run.
type repeat struct {
	of      *Result
	planned planned
}

// plannedAs is the run that a result came of, lasting as long as is said; zero for as long as it
// did.
func (f *Field) plannedAs(l Lock, r *Result, duration time.Duration) planned {
	p := planned{Lock: l, Seed: r.Seed, options: f.Options, duration: duration}
	if i := slices.IndexFunc(f.Plans, func(p Plan) bool { return p.Name == r.Plan }); i >= 0 {
		p.Plan = f.Plans[i]
	}
	return p
}

// counted is the command that the repeats are counted for, "" for that of the run.
func (r repeat) counted() string {
	if r.planned.duration == 0 {
		return ""
	}
	return r.planned.Command()
}

// made is how often the run was repeated so already.
func (r repeat) made() int {
	command := r.counted()
	for _, a := range r.of.Again {
		if a.Command == command {
			return a.Of
		}
	}
	return 0
}

// count takes in what came of the repeat: a violation came back if the guarantee was violated for
// the same reason.
func (r repeat) count(f *Field, repeated *Result) {
	command := r.counted()
	if r.made() == 0 {
		for _, v := range r.of.violated() {
			r.of.Again = append(r.of.Again, Repeats{Guarantee: v.Guarantee, Command: command})
		}
	}
	missed := without(f.linesOf(r.of), f, repeated, 0)
	for i := range r.of.Again {
		a := &r.of.Again[i]
		if a.Command != command {
			continue
		}
		a.Of++
		if !slices.ContainsFunc(missed, func(l line) bool { return l.guarantee == a.Guarantee }) {
			a.Came++
		}
	}
}
