// Package campaign makes many runs: one after another or several at a time, as long as there is
// time. It repeats a run that shows nothing, finds out which part of the runs a machine makes,
// starts zkverify for a run and reads its verdicts, and keeps results in files.
package campaign

import (
	"context"
	"fmt"
	"iter"
	"sync"
	"time"
)

// Campaign makes runs with [Make]. The zero Campaign makes one after another, without a limit.
type Campaign struct {
	Jobs  int               // runs at a time; 0 stands for 1
	For   time.Duration     // no run begins after it; 0: no limit
	Total int               // the number of runs, for Left; 0: unknown
	Say   func(text string) // gets messages, one at a time; nil: they are dropped

	mu      sync.Mutex // guards the fields below, and is held during calls of others
	started time.Time
	done    int
}

// Make makes the runs that all yields, and passes each result to took. Calls of all, of took and
// of c.Say do not overlap. Make returns when all runs are made, the time is up, ctx has ended, or
// after an error, and its goroutines have ended then. The result of a run that the end of ctx has
// cut off is dropped: half a run shows nothing. The error is the first one of run or took; the end
// of ctx is none.
func Make[T, R any](ctx context.Context, c *Campaign, all iter.Seq[T], run func(context.Context, T) (R, error), took func(T, R) error) error {
	next, end := iter.Pull(all)
	defer end()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if c.started.IsZero() {
		c.started = time.Now()
	}
	var failed error
	pull := func() (one T, ok bool) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if ctx.Err() == nil && !c.over() {
			one, ok = next()
		}
		return one, ok && ctx.Err() == nil
	}
	take := func(one T, result R, err error) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if ctx.Err() != nil {
			return
		}
		if c.done++; err == nil {
			err = took(one, result)
		}
		if err != nil {
			failed = err
			stop()
		}
	}
	var workers sync.WaitGroup
	for range max(c.Jobs, 1) {
		// Ends when there is nothing left to run.
		workers.Go(func() {
			for one, ok := pull(); ok; one, ok = pull() {
				result, err := run(ctx, one)
				take(one, result, err)
			}
		})
	}
	workers.Wait()
	return failed
}

// over reports whether the time is up.
func (c *Campaign) over() bool { return c.For > 0 && time.Since(c.started) >= c.For }

// Left returns the number of runs that are done, and the estimated time of the others, for a line
// about the result of a run: " (3 of 20, about 1m40s left)". It returns "" behind the last run.
func (c *Campaign) Left() string {
	left := c.Total - c.done
	if left <= 0 || c.done == 0 {
		return ""
	}
	each := time.Since(c.started) / time.Duration(c.done)
	return fmt.Sprintf(" (%d of %d, about %s left)", c.done, c.Total, (each * time.Duration(left)).Round(time.Second))
}

// Repeats is the number of times that a run which shows nothing is made again.
const Repeats = 2

// UntilShown makes a run until it shows something, up to Repeats times more, unless the time is up
// or ctx has ended. The function run gets the number of earlier runs. It returns the reason why the
// run shows nothing, such as a busy machine, or "" if it shows something.
func (c *Campaign) UntilShown(ctx context.Context, name string, run func(again int) (void string, err error)) error {
	for again := 0; ; again++ {
		void, err := run(again)
		if err != nil || void == "" || again == Repeats || ctx.Err() != nil || c.over() {
			return err
		}
		if c.Say != nil {
			c.mu.Lock()
			c.Say(fmt.Sprintf("%s: %s: it is made again", name, void))
			c.mu.Unlock()
		}
	}
}
