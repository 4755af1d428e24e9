// Package folder carries out runs and writes one folder for each: the history, the verdicts on
// it, a page for a browser, JUnit XML, and the logs of the processes that the run has started.
// The command zkverify run and package verify use its three steps: [Record], [Judge] and
// [Write].
package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload"
)

// The files of a run.
const (
	History = "history.jsonl"
	Verdict = "verdict.json"
	Page    = "report.html"
	JUnit   = "junit.xml"
)

// Recorded is the outcome of a run that is on record.
type Recorded struct {
	workload.Result
	History         string        // the file; "" of a history in memory
	Took            time.Duration // the run, without the start of the servers
	Events, Written int           // accepted, and handed to the operating system: the same unless the run failed
}

// Record drives a lock as configured by cfg and records it in dir, which exists. Started and
// options go into the header of the history besides what cfg gives it; Record makes cfg's
// Recorder.
//
// The end of ctx ends the run early, in good order and without an error: Result.Interrupted
// reports it. Another error is that of [workload.Run], and the history until then can be
// judged; or the history could not be made, and Recorded.History is empty.
func Record(ctx context.Context, dir string, cfg workload.Config, started time.Time, options map[string]string) (Recorded, error) {
	file := filepath.Join(dir, History)
	recorder, err := histories.Create(file, headerOf(cfg, started, options))
	if err != nil {
		return Recorded{}, err
	}
	r, err := carryOut(ctx, cfg, recorder, func(did *service.Log) error { return writeService(dir, started, did) })
	r.History = file
	return r, err
}

// Keep drives a lock as [Record] does, and keeps the history in memory. The history is nil if
// it could not be made.
func Keep(ctx context.Context, cfg workload.Config, started time.Time, options map[string]string) (Recorded, *histories.Kept, error) {
	recorder, kept, err := histories.Keep(headerOf(cfg, started, options))
	if err != nil {
		return Recorded{}, nil, err
	}
	r, err := carryOut(ctx, cfg, recorder, func(*service.Log) error { return nil })
	return r, kept, err
}

func headerOf(cfg workload.Config, started time.Time, options map[string]string) histories.Header {
	header := cfg.Header()
	header.Started, header.Options = started, options
	return header
}

// carryOut makes the run and closes its recorder. It passes the log of the servers to keep.
func carryOut(ctx context.Context, cfg workload.Config, recorder *histories.Recorder, keep func(*service.Log) error) (Recorded, error) {
	cfg.Recorder = recorder
	begun := time.Now()
	result, err := workload.Run(ctx, cfg)
	r := Recorded{Result: result, Took: time.Since(begun)}
	closeErr := errors.Join(recorder.Close(), keep(result.Service))
	r.Events, r.Written, _ = recorder.Counts()
	switch {
	case ctx.Err() != nil:
		err = nil // the caller asked for the end
	case err == nil:
		err = closeErr // else it is the same, or follows from it
	}
	return r, err
}

// Judge judges the history in a file, which stays open, together with the log of the servers if
// that is in the same folder: see [Service]. A [histories.FormatError] names the line of the
// history that cannot be read.
func Judge(ctx context.Context, file *histories.File, options ...checker.Option) (*checker.Report, error) {
	options, err := withService(file, options)
	if err != nil {
		return nil, err
	}
	r, err := checker.CheckEvents(ctx, file.Header(), file.Events(), options...)
	if err != nil {
		return nil, err
	}
	if note, truncated := file.Truncated(); truncated {
		r.Notes = append(r.Notes, "the history is cut off: "+note)
	}
	return r, nil
}

// JudgeFile is Judge of a file by name.
func JudgeFile(ctx context.Context, path string, options ...checker.Option) (histories.Header, *checker.Report, error) {
	file, err := histories.Open(path)
	if err != nil {
		return histories.Header{}, nil, err
	}
	defer file.Close()
	r, err := Judge(ctx, file, options...)
	if err != nil {
		return histories.Header{}, nil, fmt.Errorf("%s: %w", path, err)
	}
	return file.Header(), r, nil
}

// Write writes the files for readers, Verdict, Page and JUnit, into dir, which has the history.
func Write(dir string, header histories.Header, r *checker.Report, took time.Duration) error {
	return errors.Join(
		WriteFile(filepath.Join(dir, Verdict), func(w io.Writer) error { return report.JSON(w, r) }),
		WriteFile(filepath.Join(dir, JUnit), report.JUnitOf(header, r, took).Write),
		writePage(filepath.Join(dir, Page), dir, filepath.Join(dir, History), r))
}

// writePage reads the history in a file once more and writes its page.
func writePage(out, name, history string, r *checker.Report) error {
	h, err := histories.Open(history)
	if err != nil {
		return err
	}
	defer h.Close()
	return WritePage(context.Background(), out, name, h.Header(), h.Events(), r)
}

// WritePage writes the page of a history, of which r is the report. The page shows name as the
// history's name. When ctx ends, no page is written.
func WritePage(ctx context.Context, out, name string, header histories.Header, events iter.Seq2[*histories.Event, error], r *checker.Report) error {
	return WriteFile(out, func(w io.Writer) error { return report.HTML(ctx, w, name, header, events, r) })
}

// WriteFile writes a file through write, whole or not at all: if it cannot be written, the old
// file stays. It writes to a device or a pipe directly. It refuses a link, which may lie in a
// folder from a stranger and lead to a file outside it.
func WriteFile(path string, write func(io.Writer) error) (err error) {
	switch info, err := os.Lstat(path); {
	case err != nil || info.Mode().IsRegular() || info.IsDir(): // a folder is refused below
	case info.Mode()&fs.ModeSymlink != 0:
		return fmt.Errorf("%s is a link: name the file that it leads to", path)
	default:
		f, err := os.OpenFile(path, os.O_WRONLY, 0)
		if err != nil {
			return err
		}
		return errors.Join(write(f), f.Close())
	}
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+"-*")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(f.Name()) // it is of no use any more
		}
	}()
	if err := errors.Join(write(f), f.Chmod(0o644), f.Close()); err != nil {
		return err
	}
	return os.Rename(f.Name(), path)
}
