package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime/debug"
	"runtime/metrics"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/models"
	"github.com/zkverify/zkverify/histories"
)

// costFlags bound the memory and the time of a command whose input may be untrusted.
type costFlags struct {
	MaxMemory int64         `default:"512" help:"Memory in MiB that the command may need." placeholder:"MIB"`
	MaxTime   time.Duration `default:"1h" help:"How long the command may take."`
}

// Validate is called by kong.
func (f costFlags) Validate() error {
	if f.MaxTime <= 0 {
		return fmt.Errorf("--max-time is %s, must be more than 0", f.MaxTime)
	}
	return positive("--max-memory", f.MaxMemory)
}

// readFlags bound the size of a history that is read, and the cost of reading it.
type readFlags struct {
	costFlags
	MaxSize   int64 `default:"16384" help:"MiB that a history may have when it is unpacked." placeholder:"MIB"`
	MaxEvents int64 `default:"100000000" help:"Events that a history may have." placeholder:"N"`
}

// Validate is called by kong.
func (f readFlags) Validate() error {
	return errors.Join(f.costFlags.Validate(), positive("--max-size", f.MaxSize), positive("--max-events", f.MaxEvents))
}

func positive(name string, n int64) error {
	if n <= 0 || n > 1<<40 {
		return fmt.Errorf("%s is %d, must be more than 0 and at most %d", name, n, int64(1)<<40)
	}
	return nil
}

// open opens a history within the bounds.
func (f readFlags) open(ctx context.Context, path string, as histories.As) (*histories.File, error) {
	limits := histories.Limits{Bytes: min(f.MaxSize, math.MaxInt64>>20) << 20, Events: int(min(f.MaxEvents, math.MaxInt))}
	file, err := histories.OpenAs(ctx, path, limits, as)
	if err != nil {
		return nil, usageError{err}
	}
	if file.Reading() == nil && len(argsOf(as)) > 0 {
		file.Close()
		return nil, usage("%s: %s is for histories of other tools, and this one has a header of zkverify", path, argsOf(as)[0])
	}
	return file, nil
}

// most returns the bounds of the search for an order. They lie below those of the command, so
// that an undecided search is reported as unknown before the command is ended.
func (f costFlags) most(e engineFlags) models.Caps {
	return models.Caps{Engine: checker.Engine(e.Engine), Time: min(e.Timeout, f.MaxTime/3), Memory: min(e.Memory, f.MaxMemory/4) << 20}
}

// source returns the history in a file. If the file cannot be read twice, the history is kept
// in memory.
func source(file *histories.File) (checker.Source, error) {
	if file.Twice() {
		return checker.Source{Header: file.Header(), Events: file.All(), Line: file.Line}, nil
	}
	h, err := file.History()
	if err != nil {
		return checker.Source{}, usageError{err}
	}
	return checker.SourceOf(h), nil
}

// exceeded is the cause with which a command is ended that exceeds its bounds.
type exceeded struct{ text string }

func (e exceeded) Error() string { return e.text }

// grace is the time that a command has to end after it was told to. A command that takes longer
// is abandoned: its computation leaves nothing behind.
const grace = time.Second

// within runs do within the bounds, until it returns or ctx ends. If a bound or an interrupt ended
// it, the error says so.
func (f costFlags) within(ctx context.Context, do func(context.Context) error) error {
	ctx, end := context.WithCancelCause(ctx)
	defer end(nil)
	ctx, stop := context.WithTimeoutCause(ctx, f.MaxTime, exceeded{fmt.Sprintf("it takes more than %s (--max-time raises that)", f.MaxTime)})
	defer stop()
	defer f.watchMemory(ctx, end)()
	done := make(chan error, 1)
	go func() { done <- do(ctx) }() // ends with do, or with the program
	select {
	case err := <-done:
		return f.why(ctx, err)
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return f.why(ctx, err)
	case <-time.After(grace):
		return f.why(ctx, context.Cause(ctx))
	}
}

// why turns the error of a command into one that names the bound or the interrupt that ended it,
// and the flag that raises the bound.
func (f costFlags) why(ctx context.Context, err error) error {
	var much exceeded
	var limit *histories.LimitError
	switch {
	case errors.As(err, &limit) && limit.Events > 0:
		return usage("%w (--max-events raises that)", err)
	case errors.As(err, &limit):
		return usage("%w (--max-size raises that)", err)
	case err == nil || ctx.Err() == nil || !errors.Is(err, context.Cause(ctx)):
		return err
	case errors.As(context.Cause(ctx), &much):
		return usageError{much}
	}
	return errors.New("interrupted")
}

// watchMemory ends the command when it needs more than MaxMemory. It watches until stop is called.
func (f costFlags) watchMemory(ctx context.Context, end context.CancelCauseFunc) (stop func()) {
	if f.MaxMemory >= 1<<23 { // 8 TiB
		return func() {}
	}
	most := f.MaxMemory << 20
	was := debug.SetMemoryLimit(most/5*4 + int64(len(ballast))) // so that garbage is collected before it counts
	percent := debug.SetGCPercent(300)                          // no servers share the machine, so the collector may run less often
	stopped, ended := make(chan struct{}), make(chan struct{})
	go func() { // ends when stop is called
		defer close(ended)
		tick := time.NewTicker(20 * time.Millisecond)
		defer tick.Stop()
		for {
			// Beside what is alive there must be room for garbage. A command whose data take three
			// quarters would otherwise go on collecting it until they take all.
			if used, alive := inUse(); used > most || alive > most/4*3 {
				end(exceeded{fmt.Sprintf("it needs more than %d MiB of memory (--max-memory raises that)", f.MaxMemory)})
				return
			}
			select {
			case <-tick.C:
			case <-stopped:
				return
			}
		}
	}()
	return func() {
		close(stopped)
		<-ended
		debug.SetMemoryLimit(was)
		debug.SetGCPercent(percent)
	}
}

// ballast counts as memory in use, see main.
var ballast []byte

// inUse returns the bytes of memory that the program has taken from the system, less those it has
// given back, and the bytes of its data that were alive when garbage was last collected; both
// without the ballast.
func inUse() (used, alive int64) {
	samples := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}, {Name: "/gc/heap/live:bytes"}}
	metrics.Read(samples)
	n := func(i int) int64 { return int64(samples[i].Value.Uint64()) }
	return n(0) - n(1) - int64(len(ballast)), n(2) - int64(len(ballast))
}
