package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/models"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/histories/situations"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/folder"
)

// engineFlags choose the engine that judges a history, and bound its cost.
type engineFlags struct {
	Engine  string        `rare:"" default:"both" enum:"interval,porcupine,both" help:"What judges: interval, porcupine, or both, which must agree."`
	Timeout time.Duration `rare:"" default:"1m" help:"How long Porcupine may search in all. What it leaves undecided is unknown."`
	Memory  int64         `rare:"" default:"256" help:"Memory in MiB that one search of Porcupine may need. What would need more is unknown." placeholder:"MIB"`
}

// Validate is called by kong.
func (f engineFlags) Validate() error {
	if f.Timeout <= 0 {
		return fmt.Errorf("the timeout is %s, must be more than 0", f.Timeout)
	}
	if f.Memory <= 0 || f.Memory > 1<<30 {
		return fmt.Errorf("the memory is %d MiB, must be more than 0 and at most %d", f.Memory, 1<<30)
	}
	return nil
}

// opening is a function that opens a history.
type opening func(ctx context.Context, path string) (*histories.File, error)

// opening returns a function that opens a history, one of another tool by the conventions.
func (f readFlags) opening(c Conventions) opening {
	return func(ctx context.Context, path string) (*histories.File, error) { return f.open(ctx, path, c.as()) }
}

// countSituations has the situations of a run on simulated servers counted.
func countSituations(file *histories.File) []checker.Option {
	header := file.Header()
	if header.Ensemble != "simulated" {
		return nil
	}
	return []checker.Option{checker.WithSituations(situations.NewCounter(&header, false))}
}

// searches holds the engine settings of commands without engine flags.
var searches = engineFlags{Engine: string(checker.Both), Timeout: time.Minute, Memory: 256}

// judgeAs judges the history in a file by the conventions, within the bounds.
func (f engineFlags) judgeAs(ctx context.Context, con *console, path string, c Conventions, bounds readFlags) (histories.Header, *checker.Report, error) {
	return f.judge(ctx, con, path, bounds.opening(c), func(file *histories.File) []checker.Option {
		return append(c.options(), c.byModels(ctx, file, bounds.most(f))...)
	}, bounds.most(f))
}

// recordedHere opens a history that a run of this program has just recorded.
func recordedHere(_ context.Context, path string) (*histories.File, error) {
	file, err := histories.Open(path)
	if err != nil {
		return nil, usageError{err}
	}
	return file, nil
}

// judge judges the history in a file, and prints how long that took.
func (f engineFlags) judge(ctx context.Context, con *console, path string, open opening, options func(*histories.File) []checker.Option, caps models.Caps) (histories.Header, *checker.Report, error) {
	start := time.Now()
	file, err := open(ctx, path)
	if err != nil {
		return histories.Header{}, nil, err
	}
	defer file.Close()
	done := con.reading(file)
	var r *checker.Report
	if file.Registers() {
		r, err = models.Registers(ctx, file.Reading(), file.Operations(), caps)
	} else {
		r, err = folder.Judge(ctx, file, append(options(file),
			checker.WithEngine(checker.Engine(f.Engine)), checker.WithTimeLimit(f.Timeout), checker.WithMemoryLimit(f.Memory<<20))...)
	}
	done()
	var bad *histories.FormatError
	switch {
	case errors.As(err, &bad): // it names the file
		return histories.Header{}, nil, err
	case errors.Is(err, service.ErrFormat):
		return histories.Header{}, nil, usageError{err}
	case err != nil:
		return histories.Header{}, nil, refusal(path, err)
	}
	if read := file.Reading(); read != nil {
		r.Notes = append([]string{"read as " + read.String()}, r.Notes...)
	}
	con.say("judged %s in %s", words.Count(r.Events, "event"), time.Since(start).Round(time.Millisecond))
	return file.Header(), r, nil
}

// large is the size from which on a file takes so long to read that a bar is shown.
const large = 32 << 20

// reading shows on a terminal how much of a large file has been read. It ends when done is
// called.
func (con *console) reading(file *histories.File) (done func()) {
	_, size := file.Progress()
	if !con.terminal || size < large {
		return func() {}
	}
	bars := mpb.New(mpb.WithOutput(screen(con.err)), mpb.WithWidth(30), mpb.WithAutoRefresh())
	bar := bars.AddBar(size, mpb.BarRemoveOnComplete(), mpb.AppendDecorators(decor.CountersKibiByte(" % .0f of % .0f read"), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)))
	stop, stopped := make(chan struct{}), make(chan struct{})
	go func() { // ends when done is called
		defer close(stopped)
		tick := time.NewTicker(200 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-stop:
				return
			case <-tick.C:
				read, _ := file.Progress()
				bar.SetCurrent(min(read, size-1))
			}
		}
	}()
	return func() {
		close(stop)
		<-stopped
		bar.Abort(true)
		bars.Wait()
	}
}

// historyIn returns the history file at path, or in the folder there.
func historyIn(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return "", usage("%s: no such file or folder", path)
	case err != nil:
		return "", usageError{err}
	case !info.IsDir():
		return path, nil
	}
	for _, name := range histories.FileNames() {
		file := filepath.Join(path, name)
		if _, err := os.Stat(file); err == nil {
			return file, nil
		}
	}
	return "", usage("%s: no %s in this folder", path, folder.History)
}

// openHistory opens the history in a file, or in a run's folder.
func (f readFlags) openHistory(ctx context.Context, path string, as histories.As) (*histories.File, error) {
	file, err := historyIn(path)
	if err != nil {
		return nil, err
	}
	return f.open(ctx, file, as)
}

// openLocks is openHistory for commands that take histories of locks alone.
func (f readFlags) openLocks(ctx context.Context, path string, as histories.As) (*histories.File, error) {
	file, err := f.openHistory(ctx, path, as)
	if err == nil && file.Registers() {
		file.Close()
		return nil, usage("%s: a history of registers: zkverify check judges it, and other commands have nothing to show of it", file.Path())
	}
	return file, err
}

// readHistory reads the history in a file, or in a run's folder.
func (f readFlags) readHistory(ctx context.Context, path string) (name string, h *histories.History, err error) {
	file, err := f.openHistory(ctx, path, histories.As{})
	if err != nil {
		return "", nil, err
	}
	defer file.Close()
	if h, err = file.History(); err != nil {
		return "", nil, usageError{err}
	}
	return file.Path(), h, nil
}

// refusal returns the error of a command that has nothing to show of a history.
func refusal(file string, err error) error {
	if errors.Is(err, checker.ErrNotViolated) || errors.Is(err, checker.ErrNoGuarantee) {
		return usageError{fmt.Errorf("%s: %w", file, err)}
	}
	return fmt.Errorf("%s: %w", file, err)
}
