package field

import (
	"slices"
	"time"
)

// repeat is a repeat of a run: the run's result, and the run to make.
type repeat struct {
	of      *Result
	planned planned
}

// plannedAs returns the run that led to a result, with another duration; zero for the same
// duration.
func (f *Field) plannedAs(l Lock, r *Result, duration time.Duration) planned {
	return planned{Lock: l, Plan: f.plan(r.Plan), Seed: r.Seed, options: f.Options, duration: duration}
}

// counted returns the command under which the repeat is counted, "" for that of the run.
func (r repeat) counted() string {
	if r.planned.duration == 0 {
		return ""
	}
	return r.planned.Command()
}

// made returns the number of repeats of the run by that command so far.
func (r repeat) made() int {
	command := r.counted()
	for _, a := range r.of.Again {
		if a.Command == command {
			return a.Of
		}
	}
	return 0
}

// count adds the result of the repeat to that of the run. A violation came back if the repeat
// violated the guarantee for the same reason.
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
