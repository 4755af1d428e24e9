package main

import (
	"fmt"
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
}

const lineEvery = 10 * time.Second

func newProgress(con *console, duration time.Duration) *progress {
	p := &progress{con: con}
	if con.terminal {
		p.bars = mpb.New(mpb.WithOutput(con.err), mpb.WithWidth(30), mpb.WithAutoRefresh())
		p.bar = p.bars.AddBar(duration.Milliseconds(), mpb.AppendDecorators(decor.Any(func(decor.Statistics) string {
			p.mu.Lock()
			defer p.mu.Unlock()
			return " " + progressText(p.last)
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
	if now.Phase != p.phase || time.Since(p.line) >= lineEvery {
		p.phase, p.line = now.Phase, time.Now()
		p.con.say("%s", progressText(now))
	}
}

// done ends the bar, wherever it stands: the run may have been interrupted.
func (p *progress) done() {
	if p.bar != nil {
		p.bar.Abort(false)
		p.bars.Wait()
	}
}

func progressText(p workload.Progress) string {
	var b strings.Builder
	switch p.Phase {
	case histories.PhaseChaos:
		fmt.Fprintf(&b, "%.0f of %.0f s", p.Elapsed.Seconds(), p.Duration.Seconds())
	case histories.PhaseRecovery:
		b.WriteString("recovery: every client must get every lock")
	case histories.PhaseEnd:
		b.WriteString("end: looking for what is left")
	default:
		b.WriteString("starting")
	}
	fmt.Fprintf(&b, ", %d operations, %d cycles, %d sessions expired", p.Ops, p.Cycles, p.Expired)
	if len(p.Faults) > 0 {
		fmt.Fprintf(&b, "; %s", strings.Join(p.Faults, ", "))
	}
	return b.String()
}
