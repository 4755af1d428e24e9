package main

import (
	"fmt"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload"
)

// liveLine returns the progress of a run in one line of a terminal: the faults in force, a
// bar, and as many of the other figures as there is room for. Nothing is cut off but the
// name of a fault that is wider than half of the line. label names the run among several.
func liveLine(width int, label string, now workload.Progress, rate float64) string {
	column := min(width*2/3, max(26, width*2/5)) // so wide that the bar does not move
	force := inForce(now, column)
	size := min(30, max(6, width/6))
	line := force + strings.Repeat(" ", column-utf8.RuneCountInString(force)) + " " + barOf(now, size)
	glue := " "
	for _, part := range liveParts(label, now, rate) {
		for _, text := range part {
			if utf8.RuneCountInString(line+glue+text) <= width {
				line, glue = line+glue+text, ", "
				break
			}
		}
	}
	return line
}

// liveParts returns the figures of a run, the most important first. Each has several forms, of
// which the first that fits is shown.
func liveParts(label string, now workload.Progress, rate float64) [][]string {
	left := short(max(0, now.Duration-now.Elapsed))
	parts := [][]string{{left + " left", left}}
	if now.Phase != histories.PhaseChaos {
		parts = nil
	}
	if label != "" {
		count, _, _ := strings.Cut(label, ":")
		most, _, _ := strings.Cut(label, ", ")
		parts = append(parts, []string{label, most, count})
	}
	return append(parts,
		[]string{fmt.Sprintf("%.0f operations a second", rate), fmt.Sprintf("%.0f ops/s", rate)},
		[]string{fmt.Sprintf("%d lost", now.Lost)},
		[]string{words.Count(now.Expired, "session") + " expired"},
		[]string{words.Count(now.Ops, "operation")},
		[]string{words.Count(now.Cycles, "cycle")},
		[]string{fmt.Sprintf("%d held", now.Held)})
}

// short formats a duration in at most six letters.
func short(d time.Duration) string {
	switch {
	case d < 100*time.Second:
		return fmt.Sprintf("%.0f s", d.Seconds())
	case d < 100*time.Minute:
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return fmt.Sprintf("%d h", d/time.Hour)
}

// inForce names the faults that are in force, in at most width letters, or the phase if it has
// no faults.
func inForce(now workload.Progress, width int) string {
	switch now.Phase {
	case histories.PhaseRecovery:
		return "recovery"
	case histories.PhaseEnd:
		return "end: what is left?"
	case histories.PhaseChaos:
	default:
		return "starting"
	}
	if len(now.Faults) == 0 {
		return "no fault in force"
	}
	all := strings.Join(now.Faults, ", ")
	first, more := now.Faults[0], ""
	if n := len(now.Faults) - 1; n > 0 {
		more = fmt.Sprintf(" +%d", n)
	}
	name, _, _ := strings.Cut(first, " ") // without the target of the fault
	for _, text := range []string{all, first + more, name + more} {
		if utf8.RuneCountInString(text) <= width {
			return text
		}
	}
	return string([]rune(name)[:max(0, width-len(more)-1)]) + "…" + more
}

// barOf draws the part of the chaos phase that is over.
func barOf(now workload.Progress, size int) string {
	inner := size - 2
	full := inner
	if now.Duration > 0 && now.Phase == histories.PhaseChaos {
		full = int(min(1, max(0, float64(now.Elapsed)/float64(now.Duration))) * float64(inner))
	} else if now.Phase == "" {
		full = 0
	}
	return "[" + strings.Repeat("=", full) + strings.Repeat("-", inner-full) + "]"
}
