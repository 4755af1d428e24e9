package main

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkverify/zkverify/workload/mutate"
	"github.com/zkverify/zkverify/workload/mutate/trial"
)

// mutantBar shows how many mutants were tried: a bar on a terminal, else a line every
// ten seconds.
type mutantBar struct {
	con     *console
	results *trial.Results
	chosen  []mutate.Mutant
	bars    *mpb.Progress
	bar     *mpb.Bar
	line    time.Time
}

func newMutantBar(con *console, results *trial.Results, chosen []mutate.Mutant) *mutantBar {
	b := &mutantBar{con: con, results: results, chosen: chosen, line: time.Now()}
	if con.terminal {
		b.bars = mpb.New(mpb.WithOutput(con.err), mpb.WithWidth(40), mpb.WithAutoRefresh())
		b.bar = b.bars.AddBar(int64(len(chosen)), mpb.BarRemoveOnComplete(),
			mpb.AppendDecorators(decor.CountersNoUnit("%d of %d mutants"), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)))
		_, missing := results.Of(chosen)
		b.bar.SetCurrent(int64(len(chosen) - missing))
	}
	return b
}

// ended is trial.Config.Ended.
func (b *mutantBar) ended(trial.Result) {
	all, _ := b.results.Of(b.chosen)
	if b.bar != nil {
		b.bar.SetCurrent(int64(len(all)))
		return
	}
	if time.Since(b.line) < lineEvery {
		return
	}
	b.line = time.Now()
	killed := 0
	for _, r := range all {
		if r.Status == trial.Killed {
			killed++
		}
	}
	b.con.say("%d of %d mutants tried, %d killed", len(all), len(b.chosen), killed)
}

// done removes the bar.
func (b *mutantBar) done() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
	}
}
