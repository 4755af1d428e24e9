package main

import (
	"bytes"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

func TestTheBarEndsWhereverTheRunEnds(t *testing.T) {
	for _, ends := range []time.Duration{0, 3 * time.Second, 10 * time.Second, 15 * time.Second} {
		synctest.Test(t, func(t *testing.T) { // a bar that never ends is a deadlock here
			var out bytes.Buffer
			p := newProgress(&console{err: &out, terminal: true}, 10*time.Second)
			for now := time.Duration(0); now < ends; now += 200 * time.Millisecond {
				p.update(workload.Progress{Phase: histories.PhaseChaos, Elapsed: now, Duration: 10 * time.Second, Ops: 7})
				time.Sleep(200 * time.Millisecond)
			}
			p.done()
			if ends > time.Second && !strings.Contains(out.String(), "7 operations") {
				t.Errorf("the bar says %q", out.String())
			}
		})
	}
}

func TestWithoutATerminalThereIsALineNowAndThen(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var out bytes.Buffer
		p := newProgress(&console{err: &out}, time.Minute)
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
