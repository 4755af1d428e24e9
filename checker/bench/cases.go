package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/internal/words"
)

// benchCase is one row of the table.
type benchCase struct {
	name       string
	target     string
	operations int  // of the history in a file that the case needs, or 0
	mixed      bool // a history of every recipe
	run        func(ctx context.Context, file string) (outcome, error)
}

// outcome is the result of a case.
type outcome struct {
	Took time.Duration // the measured time, without the drawing of histories
	Peak int64         // the peak memory of the whole process, in bytes
	Says string
}

const (
	million    = 1_000_000
	tenMillion = 10 * million
)

var cases = []benchCase{
	{"1,000,000 operations, interval engine", "≤ 1 s, ≤ 200 MB", 0, false, drawn(shape{operations: million}, checker.WithEngine(checker.Interval))},
	{"the same from a file", "≤ 4 s", million, false, fromFile},
	{"10,000,000 operations from a file", "10 × the time, the same memory ± 20 %", tenMillion, false, fromFile},
	{"300,000 operations of every recipe from a file, both engines", "", 300_000, true, mixedFromFile},
	{"3,000,000 operations of every recipe, both engines", "10 × the time, the same memory ± 20 %", 3_000_000, true, mixedFromFile},
	{"1,000,000 operations, Porcupine, cut", "≤ 20 s, ≤ 400 MB", 0, false, drawn(shape{operations: million}, checker.WithEngine(checker.Porcupine), checker.WithTimeLimit(time.Hour))},
	{"10,000 operations, 20 unanswered, violated, interval engine", "≤ 2 s", 0, false, drawn(broken, checker.WithEngine(checker.Interval))},
	{"10,000 operations, 20 unanswered, violated, Porcupine", "≤ 2 s", 0, false, drawn(broken, checker.WithEngine(checker.Porcupine))},
	{"10,000 operations, 20 unanswered, violated, both", "≤ 2 s", 0, false, drawn(broken)},
	{"shrink 100,000 operations", "≤ 10 operations, ≤ 30 s", 0, false, shrink},
}

var broken = shape{operations: 10_000, unanswered: 20, violated: true}

// drawn judges a history while it is drawn. The drawing does not count.
func drawn(s shape, opts ...checker.Option) func(context.Context, string) (outcome, error) {
	return func(ctx context.Context, _ string) (outcome, error) {
		var drawing time.Duration
		start := time.Now()
		r, err := checker.CheckEvents(ctx, header(), inChunks(history(s), &drawing), opts...)
		if err != nil {
			return outcome{}, err
		}
		return outcome{Took: time.Since(start) - drawing, Says: says(r)}, nil
	}
}

// inChunks draws some events ahead, and adds up the time that this takes.
func inChunks(events iter.Seq[*histories.Event], drawing *time.Duration) iter.Seq2[*histories.Event, error] {
	return func(yield func(*histories.Event, error) bool) {
		next, stop := iter.Pull(events)
		defer stop()
		chunk := make([]histories.Event, 0, 1<<13)
		for {
			start := time.Now()
			chunk = chunk[:0]
			for len(chunk) < cap(chunk) {
				e, more := next()
				if !more {
					break
				}
				chunk = append(chunk, *e)
			}
			*drawing += time.Since(start)
			if len(chunk) == 0 {
				return
			}
			for i := range chunk {
				if !yield(&chunk[i], nil) {
					return
				}
			}
		}
	}
}

func fromFile(ctx context.Context, path string) (outcome, error) {
	return checkFile(ctx, path, checker.WithEngine(checker.Interval))
}

func mixedFromFile(ctx context.Context, path string) (outcome, error) {
	return checkFile(ctx, path, checker.WithTimeLimit(time.Hour))
}

func checkFile(ctx context.Context, path string, opts ...checker.Option) (outcome, error) {
	start := time.Now()
	file, err := histories.Open(path)
	if err != nil {
		return outcome{}, err
	}
	defer file.Close()
	r, err := checker.CheckEvents(ctx, file.Header(), file.Events(), opts...)
	if err != nil {
		return outcome{}, err
	}
	return outcome{Took: time.Since(start), Says: says(r)}, nil
}

func shrink(ctx context.Context, _ string) (outcome, error) {
	h := &histories.History{Header: header()}
	for e := range history(shape{operations: 100_000, violated: true}) {
		h.Events = append(h.Events, *e)
	}
	start := time.Now()
	small, err := checker.Shrink(ctx, h, "", nil)
	if err != nil {
		return outcome{}, err
	}
	n := 0
	for i := range small.Events {
		if small.Events[i].Type == histories.Invoke {
			n++
		}
	}
	return outcome{Took: time.Since(start), Says: words.Count(n, "operation") + " left"}, nil
}

// says summarizes a report, without the guarantees that nothing in the history puts to the
// test.
func says(r *checker.Report) string {
	n := map[verdict.Outcome]int{}
	for i := range r.Verdicts {
		n[r.Verdicts[i].Outcome]++
	}
	text := fmt.Sprintf("guarantees that hold: %d", n[verdict.Holds])
	if n[verdict.Unknown] > 0 {
		text += fmt.Sprintf(", %d unknown", n[verdict.Unknown])
	}
	if n[verdict.Violated] > 0 {
		v := r.Verdict(checker.MutualExclusion)
		text = fmt.Sprintf("%d violated, %s of %s", n[verdict.Violated], words.Count(len(v.Witnesses), "witness"), v.Guarantee)
	}
	return text
}

// writeFile draws a history of so many operations into a file.
func writeFile(dir string, operations int, all bool) (path string, err error) {
	path = filepath.Join(dir, fmt.Sprintf("%d.jsonl", operations))
	f, err := os.Create(path)
	if err != nil {
		return "", err
	}
	defer func() {
		if e := f.Close(); err == nil {
			err = e
		}
	}()
	w := bufio.NewWriterSize(f, 1<<20)
	header, events := header(), history(shape{operations: operations})
	if all {
		header, events = mixedHeader(), mixed(operations)
	}
	if err := encode(w, header, events); err != nil {
		return "", err
	}
	return path, w.Flush()
}

func encode(w io.Writer, header histories.Header, events iter.Seq[*histories.Event]) error {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header); err != nil {
		return err
	}
	for e := range events {
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}
