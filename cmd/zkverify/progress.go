package main

import (
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload"
)

// progress shows the progress of a run: by a bar on a terminal, else by a line every ten
// seconds and at each change of phase.
type progress struct {
	con   *console
	label string // names the run among several
	bars  *mpb.Progress
	bar   *mpb.Bar
	mu    sync.Mutex
	last  workload.Progress
	line  time.Time
	phase string
	told  []tick
}

// tick is the number of operations up to an instant.
type tick struct {
	at  time.Time
	ops int64
}

// rateOver is the time over which the rate of operations is averaged.
const rateOver = 2 * time.Second

const lineEvery = 10 * time.Second

// newProgress returns a progress that is shown on con, or on con.live if that is set.
func newProgress(con *console) *progress {
	p := &progress{con: con}
	if con.live != nil {
		p.con, p.label = con.live, con.label
	}
	if p.con.terminal {
		p.bars = mpb.New(mpb.WithOutput(screen(p.con.err)), mpb.WithAutoRefresh())
		p.bar = p.bars.MustAdd(1, mpb.BarFillerFunc(p.draw), mpb.BarFillerTrim())
	}
	return p
}

// draw writes the line of a terminal.
func (p *progress) draw(w io.Writer, s decor.Statistics) error {
	p.mu.Lock()
	last := p.last
	p.mu.Unlock()
	_, err := io.WriteString(w, words.Line(liveLine(s.AvailableWidth, p.label, last, p.rate(last))))
	return err
}

// update is workload.Config.Progress.
func (p *progress) update(now workload.Progress) {
	p.mu.Lock()
	p.last = now
	p.mu.Unlock()
	if p.bar != nil {
		return
	}
	switch {
	case p.label != "": // one of several runs prints no lines
	case p.con.json && time.Since(p.line) >= time.Second:
		p.line = time.Now()
		p.con.line(machineText(now, p.rate(now)))
	case !p.con.json && (now.Phase != p.phase || time.Since(p.line) >= lineEvery):
		p.phase, p.line = now.Phase, time.Now()
		p.con.say("%s", progressText(now, p.rate(now)))
	}
}

// rate returns the current number of operations a second.
func (p *progress) rate(now workload.Progress) float64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.told = append(p.told, tick{time.Now(), now.Ops})
	for len(p.told) > 2 && time.Since(p.told[0].at) > rateOver {
		p.told = p.told[1:]
	}
	first, last := p.told[0], p.told[len(p.told)-1]
	if span := last.at.Sub(first.at).Seconds(); span > 0 {
		return float64(last.ops-first.ops) / span
	}
	return 0
}

// machineText returns the progress as a value for JSON.
func machineText(now workload.Progress, rate float64) any {
	return struct {
		Phase    string   `json:"phase"`
		Elapsed  float64  `json:"elapsedSeconds"`
		Duration float64  `json:"durationSeconds"`
		Ops      int64    `json:"operations"`
		Rate     float64  `json:"operationsPerSecond"`
		Cycles   int64    `json:"cycles"`
		Held     int64    `json:"held"`
		Lost     int64    `json:"lost"`
		Expired  int64    `json:"sessionsExpired"`
		Faults   []string `json:"faults"`
	}{now.Phase, now.Elapsed.Seconds(), now.Duration.Seconds(), now.Ops, math.Round(rate), now.Cycles, now.Held, now.Lost, now.Expired, append([]string{}, now.Faults...)}
}

// done removes the bar, even an unfinished one: the run may have been interrupted.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Abort(true)
		p.bars.Wait()
	}
}

// progressText returns the progress as a line of a log.
func progressText(p workload.Progress, rate float64) string {
	var b strings.Builder
	switch p.Phase {
	case histories.PhaseChaos:
		fmt.Fprintf(&b, "%s; %.0f s of %.0f left", inForce(p, math.MaxInt), max(0, (p.Duration-p.Elapsed).Seconds()), p.Duration.Seconds())
	case histories.PhaseRecovery:
		b.WriteString("recovery: every client must get every lock")
	case histories.PhaseEnd:
		b.WriteString("end: looking for what is left")
	default:
		b.WriteString("starting")
	}
	fmt.Fprintf(&b, ", %s, %.0f a second, %s, %d held, %d lost, %s expired",
		words.Count(p.Ops, "operation"), rate, words.Count(p.Cycles, "cycle"), p.Held, p.Lost, words.Count(p.Expired, "session"))
	return b.String()
}
