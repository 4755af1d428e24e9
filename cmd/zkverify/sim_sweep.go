package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"

	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis"
	"github.com/zkverify/zkverify/workload/simulation"
)

// resultsFile has a line for each run, as soon as it has ended.
const resultsFile = "results.jsonl"

// sweep is what came of runs in virtual time.
type sweep struct {
	file    *os.File
	results map[string]simulation.Outcome // by name
	order   []string

	violated, failed int
	cpu, virtual     time.Duration
	cycles           int64
	struck           int
}

// openSweep reads what was begun, and goes on writing there.
func openSweep(path string) (*sweep, error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, usage("--out: %w", err)
	}
	s := &sweep{file: f, results: map[string]simulation.Outcome{}}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 16<<20)
	for lines.Scan() {
		var o simulation.Outcome
		if json.Unmarshal(lines.Bytes(), &o) == nil { // an interrupt can leave half a line
			s.note(o)
		}
	}
	return s, lines.Err()
}

func runName(s simulation.Spec) string {
	text, _ := json.Marshal(s) //nolint:errcheck // it holds nothing that cannot be written
	return string(text)
}

// has reports whether a run was made.
func (s *sweep) has(spec simulation.Spec) bool {
	_, made := s.results[runName(spec)]
	return made
}

func (s *sweep) note(o simulation.Outcome) {
	name := runName(o.Spec)
	if s.has(o.Spec) {
		return
	}
	s.results[name], s.order = o, append(s.order, name)
	s.cpu, s.virtual, s.cycles, s.struck = s.cpu+o.CPU, s.virtual+o.Virtual, s.cycles+o.Cycles, s.struck+o.Struck
	switch {
	case o.Outcome == verdict.Violated:
		s.violated++
	case !o.Passed():
		s.failed++
	}
}

// add puts the result of a run on record.
func (s *sweep) add(o simulation.Outcome) error {
	s.note(o)
	o.Coverage, o.Meetings = nil, nil
	if o.Outcome != verdict.Violated {
		o.Schedule = nemesis.Schedule{}
	}
	text, err := json.Marshal(o)
	if err != nil {
		return err
	}
	_, err = s.file.Write(append(text, '\n'))
	return err
}

func (s *sweep) close() error { return s.file.Close() }

// explained is how many violations are run again at most: one cause shows in many seeds.
const explained = 3

// toExplain are violated runs, of different guarantees first.
func (s *sweep) toExplain() (all []simulation.Outcome) {
	told := map[string]bool{}
	for _, again := range []bool{false, true} {
		for _, name := range s.order {
			o := s.results[name]
			if o.Outcome != verdict.Violated || told[o.Violated[0]] != again || told[name] || len(all) == explained {
				continue
			}
			told[o.Violated[0]], told[name] = true, true
			all = append(all, o)
		}
	}
	return all
}

// outcome sums up: violated if any run is, holding if all are made and pass.
func (s *sweep) outcome(seeds int) verdict.Outcome {
	switch {
	case s.violated > 0:
		return verdict.Violated
	case s.failed > 0 || len(s.order) < seeds:
		return verdict.Unknown
	}
	return verdict.Holds
}

func (s *sweep) summary(seeds int, took time.Duration) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d of %s: %d violated, %d failed, %d passed", len(s.order), words.Count(seeds, "run"), s.violated, s.failed, len(s.order)-s.violated-s.failed)
	if minutes := s.virtual.Minutes(); minutes > 0 {
		fmt.Fprintf(&b, "\n%.1f virtual minutes, %.2f s of CPU each; %d cycles and %d faults; took %s", minutes, s.cpu.Seconds()/minutes, s.cycles, s.struck, took.Round(time.Second))
	}
	return b.String()
}

// simBar shows on a terminal how many runs were made.
type simBar struct {
	bars *mpb.Progress
	bar  *mpb.Bar
}

func newSimBar(con *console, seeds int) *simBar {
	if !con.terminal {
		return &simBar{}
	}
	bars := mpb.New(mpb.WithOutput(con.err), mpb.WithWidth(40), mpb.WithAutoRefresh())
	return &simBar{bars, bars.AddBar(int64(seeds), mpb.BarRemoveOnComplete(),
		mpb.AppendDecorators(decor.CountersNoUnit("%d of %d runs"), decor.AverageETA(decor.ET_STYLE_GO, decor.WCSyncSpace)))}
}

func (b *simBar) update(s *sweep) {
	if b.bar != nil {
		b.bar.SetCurrent(int64(len(s.order)))
	}
}

func (b *simBar) done() {
	if b.bar != nil {
		b.bar.Abort(true)
		b.bars.Wait()
	}
}

func writeSchedule(path string, s nemesis.Schedule) error {
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(s.WriteYAML(f, ""), f.Close())
}
