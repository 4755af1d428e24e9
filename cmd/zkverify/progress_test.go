package main

import (
	"bytes"
	"math/rand/v2"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

func TestTheBarEndsWhereverTheRunEnds(t *testing.T) {
	for _, ends := range []time.Duration{0, 3 * time.Second, 10 * time.Second, 15 * time.Second} {
		synctest.Test(t, func(t *testing.T) { // a bar that never ends is a deadlock here
			var out bytes.Buffer
			p := newProgress(&console{err: &out, terminal: true})
			for now := time.Duration(0); now < ends; now += 200 * time.Millisecond {
				p.update(workload.Progress{Phase: histories.PhaseChaos, Elapsed: now, Duration: 10 * time.Second, Ops: 7})
				time.Sleep(200 * time.Millisecond)
			}
			p.done()
			if ends > time.Second && !strings.Contains(out.String(), "no fault in force") {
				t.Errorf("the bar says %q", out.String())
			}
		})
	}
}

func TestWithoutATerminalThereIsALineNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&console{err: &out})
		for now := time.Duration(0); now < time.Minute; now += 200 * time.Millisecond {
			p.update(workload.Progress{Phase: histories.PhaseChaos, Elapsed: now, Duration: time.Minute, Faults: []string{"down [client 1]"}})
			time.Sleep(200 * time.Millisecond)
		}
		p.update(workload.Progress{Phase: histories.PhaseEnd})
		p.done()
		lines := strings.Split(strings.TrimSpace(out.String()), "\n")
		if len(lines) != 7 || !strings.Contains(lines[1], "50 s of 60 left") || !strings.Contains(lines[1], "down [client 1]") || !strings.HasPrefix(lines[6], "end: ") {
			t.Errorf("%d lines: %q", len(lines), lines)
		}
	})
}

func TestTheLineOfATerminalFitsIt(t *testing.T) {
	faults := []string{"down [client 1]", "isolate-holder-follower [client 3, server 2]", "expire-silence [client 1, client 4, client 7]", "slow-disk"}
	for _, width := range []int{40, 80, 120, 200} {
		for n := range 4000 {
			r := rand.New(rand.NewPCG(uint64(n), 1))
			now := workload.Progress{
				Phase: histories.PhaseChaos, Duration: time.Duration(1+r.IntN(36000)) * time.Second, Ops: r.Int64N(1e9), Cycles: r.Int64N(1e8),
				Held: r.Int64N(99), Lost: r.Int64N(1e5), Expired: r.Int64N(1e5), Faults: faults[r.IntN(4):][:r.IntN(2)],
			}
			for range r.IntN(3) {
				now.Faults = append(slices.Clone(now.Faults), faults[r.IntN(4)])
			}
			now.Elapsed = time.Duration(r.Float64() * float64(now.Duration))
			line := liveLine(width, []string{"", "seed 103, 4 of 20", "12 of 130: silent-holder, mutant-inner-release"}[r.IntN(3)], now, r.Float64()*1e5)
			first := "no fault in force"
			if len(now.Faults) > 0 {
				first, _, _ = strings.Cut(now.Faults[0], " ")
			}
			bar := regexp.MustCompile(`\[=*-*\]`).FindString(line)
			left := short(now.Duration - now.Elapsed)
			if utf8.RuneCountInString(line) > width || !strings.HasPrefix(line, first) || len(bar) < 6 || !strings.Contains(line, left) || strings.Contains(line, "…") {
				t.Fatalf("at a width of %d, of %+v: %q", width, now, line)
			}
		}
	}
}

func TestTheBarStaysWhereItIs(t *testing.T) {
	at := -1
	for _, faults := range [][]string{nil, {"down [client 1]"}, {"isolate-holder-follower [client 3, server 2]", "down [client 1]"}} {
		line := liveLine(80, "", workload.Progress{Phase: histories.PhaseChaos, Duration: time.Minute, Faults: faults}, 1)
		now := regexp.MustCompile(`\[-*\]`).FindStringIndex(line)[0]
		if at >= 0 && now != at {
			t.Errorf("%q: the bar was at %d", line, at)
		}
		at = now
	}
}

func TestTheLineShowsWhichRunItIs(t *testing.T) {
	long := liveLine(80, "12 of 130: silent-holder, mutant-inner-release", workload.Progress{Phase: histories.PhaseChaos, Duration: time.Minute}, 1)
	if !strings.Contains(long, "12 of 130") {
		t.Errorf("%q does not say which run it is", long)
	}
	for phase, begins := range map[string]string{"": "starting ", histories.PhaseRecovery: "recovery ", histories.PhaseEnd: "end: what is left? "} {
		line := liveLine(80, "seed 3, 2 of 20", workload.Progress{Phase: phase, Duration: time.Minute, Faults: []string{"down"}}, 1)
		if !strings.HasPrefix(line, begins) || !strings.Contains(line, "] seed 3, 2 of 20") {
			t.Errorf("in phase %q: %q", phase, line)
		}
	}
}

// The progress of a run whose messages go to a file is shown on the terminal of the night.
func TestARunOfManyIsShownOnTheTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var terminal, log bytes.Buffer
		p := newProgress(&console{err: &log, live: &console{err: &terminal, terminal: true}, label: "seed 3, 2 of 20"})
		p.update(workload.Progress{Phase: histories.PhaseChaos, Duration: time.Minute})
		time.Sleep(time.Second)
		p.done()
		if !strings.Contains(terminal.String(), "seed 3, 2 of 20") || log.Len() > 0 {
			t.Errorf("terminal %q, log %q", terminal.String(), log.String())
		}
	})
}
