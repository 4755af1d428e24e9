package main

import (
	"fmt"
	"math"
	"strings"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/workload"
)

// progress shows how a run stands: a bar on a terminal, else a line every ten
// seconds and at each change of phase.
type progress struct {
	con   *console
	bars  *mpb.Progress
	bar   *mpb.Bar
	mu    sync.Mutex
	last  workload.Progress
	line  time.Time
	phase string
	told  []tick
}

// tick is how many operations there had been at a time.
type tick struct {
	at  time.Time
	ops int64
}

// rateOver is the time over which operations a second are counted.
const rateOver = 2 * time.Second

const lineEvery = 10 * time.Second

func newProgress(con *console, duration time.Duration) *progress {
	p := &progress{con: con}
	if con.terminal {
		p.bars = mpb.New(mpb.WithOutput(con.err), mpb.WithWidth(30), mpb.WithAutoRefresh())
		p.bar = p.bars.AddBar(duration.Milliseconds(), mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			p.mu.Lock()
			last := p.last
			p.mu.Unlock()
			return " " + progressText(last, p.rate(last))
		})))
	}
	return p
}

// update is workload.Config.Progress.
func (p *progress) update(now workload.Progress) {
	p.mu.Lock()
	p.last = now
	p.mu.Unlock()
	if p.bar != nil {
		p.bar.SetCurrent(min(now.Elapsed, now.Duration-time.Millisecond).Milliseconds())
		return
	}
	switch {
	case p.con.json && time.Since(p.line) >= time.Second:
		p.line = time.Now()
		p.con.line(machineText(now, p.rate(now)))
	case !p.con.json && (now.Phase != p.phase || time.Since(p.line) >= lineEvery):
		p.phase, p.line = now.Phase, time.Now()
		p.con.say("%s", progressText(now, p.rate(now)))
	}
}

// rate returns how many operations a second there are now.
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

// machineText is progressText for machines.
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

// done ends the bar, wherever it stands: the run may have been interrupted.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Abort(false)
		p.bars.Wait()
	}
}

func progressText(p workload.Progress, rate float64) string {
	var b strings.Builder
	switch p.Phase {
	case histories.PhaseChaos:
		fmt.Fprintf(&b, "%.0f s of %.0f left", max(0, (p.Duration-p.Elapsed).Seconds()), p.Duration.Seconds())
	case histories.PhaseRecovery:
		b.WriteString("recovery: every client must get every lock")
	case histories.PhaseEnd:
		b.WriteString("end: looking for what is left")
	default:
		b.WriteString("starting")
	}
	fmt.Fprintf(&b, ", %d operations, %.0f a second, %d cycles, %d held, %d lost, %d sessions expired", p.Ops, rate, p.Cycles, p.Held, p.Lost, p.Expired)
	if len(p.Faults) > 0 {
		fmt.Fprintf(&b, "; %s", strings.Join(p.Faults, ", "))
	}
	return b.String()
}
