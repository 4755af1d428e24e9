package main

import (
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
)

// countBar shows how many of a number of things are done: by a bar on a terminal if the number
// is known, else by a line every ten seconds.
type countBar struct {
	con  *console
	bars *mpb.Progress // nil if there is no terminal
	bar  *mpb.Bar
	line time.Time
}

// newCountBar returns a bar for total things, 0 if their number is unknown. The format counted
// names them, such as "%d of %d runs".
func newCountBar(con *console, total int, counted string) *countBar {
	b := &countBar{con: con, line: time.Now()}
	if con.terminal && total > 0 {
		b.bars = mpb.New(mpb.WithOutput(screen(con.err)), mpb.WithWidth(40), mpb.WithAutoRefresh())
		b.bar = b.bars.AddBar(int64(total), mpb.BarRemoveOnComplete(),
			mpb.AppendDecorators(decor.CountersNoUnit(counted), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)))
	}
	return b
}

// update sets the number of things that are done. Without a bar it prints the text of line, at
// most every ten seconds.
func (b *countBar) update(done int, line func() string) {
	if b.bar != nil {
		b.bar.SetCurrent(int64(done))
		return
	}
	if time.Since(b.line) >= lineEvery {
		b.line = time.Now()
		b.con.say("%s", line())
	}
}

// done removes the bar.
func (b *countBar) done() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
	}
}
