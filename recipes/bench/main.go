package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"runtime"
	"runtime/pprof"
	"slices"
	"strings"
	"syscall"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "bench: interrupted")
		os.Exit(130)
	}
	fmt.Fprintln(os.Stderr, "bench:", err)
	os.Exit(1)
}

// options holds the options of the command line.
type options struct {
	reps       int
	cases      []string
	quick      bool
	json       string
	cpuProfile string
}

// titlesOf returns the first cells of the rows of some cases.
func titlesOf(cases []string) []string {
	var titles []string
	for _, c := range timedCases {
		if slices.Contains(cases, c.name) {
			titles = append(titles, c.title)
			if c.delay > 0 {
				titles = append(titles, c.title+handOverTitle)
			}
		}
	}
	if slices.Contains(cases, waitingCase) {
		for _, m := range waitingMeasures() {
			titles = append(titles, m.Title)
		}
	}
	return titles
}

// peerNames returns the names of all peers.
func peerNames() []string {
	var names []string
	for _, p := range aboutPeers {
		names = append(names, p.name)
	}
	return names
}

// caseNames returns the names of all cases, in the order in which they run.
func caseNames() []string {
	var names []string
	for _, c := range timedCases {
		names = append(names, c.name)
	}
	return append(names, waitingCase)
}

func parse(args []string, output io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	flags.SetOutput(output)
	flags.IntVar(&o.reps, "reps", 5, "measured repetitions of each case")
	chosen := flags.String("case", "", "comma-separated `names` of the cases to run, by default all: "+strings.Join(caseNames(), ", "))
	flags.BoolVar(&o.quick, "quick", false, "for a first look, in two or three minutes: 1 repetition after a short warm-up, and nothing that takes a minute")
	flags.StringVar(&o.json, "json", "", "write every sample to this `file` too")
	flags.StringVar(&o.cpuProfile, "cpuprofile", "", "write a CPU profile of this process to this `file`; go tool pprof -tagfocus peer=recipes shows one peer")
	if err := flags.Parse(args); err != nil {
		return o, err
	}
	if flags.NArg() > 0 {
		return o, fmt.Errorf("%q: there are only flags", flags.Arg(0))
	}
	if o.quick {
		o.reps = 1
	}
	if o.reps < 1 {
		return o, fmt.Errorf("-reps %d: want 1 at least", o.reps)
	}
	o.cases = caseNames()
	if *chosen != "" {
		o.cases = strings.Split(*chosen, ",")
		for _, name := range o.cases {
			if !slices.Contains(caseNames(), name) {
				return o, fmt.Errorf("-case %s: there are only %s", name, strings.Join(caseNames(), ", "))
			}
		}
	}
	return o, nil
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) (err error) {
	o, err := parse(args, stderr)
	if err != nil {
		return err
	}
	endProfile, err := profile(o.cpuProfile)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, endProfile()) }()
	progress, endProgress := progressTo(stderr)
	defer endProgress()
	r := report{Began: time.Now(), Reps: o.reps, Load: []string{load()}}

	dir, err := os.MkdirTemp("", "zkverify-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	progress("starting three servers")
	s, err := startServers(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	r.Versions = []string{"ZooKeeper " + s.local.Version(), runtime.Version() + ", " + fmt.Sprint(runtime.NumCPU()) + " CPUs"}

	b := &bench{
		servers: s, peers: inProcessPeers(), missing: map[string]string{},
		reps: o.reps, warmUps: 2, quick: o.quick, progress: progress,
	}
	if o.quick {
		b.warmUps = 1
	}
	defer b.close()
	r.Versions = append(r.Versions, b.startOthers(ctx, dir)...)
	progress("warming up the servers")
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	if err := s.warmUp(ctx, 3*b.warmUps); err != nil {
		return err
	}
	endProgress()
	t := r.begin(stdout, o.cases)
	err = b.all(ctx, o.cases, func(m *measure) {
		endProgress()
		r.Measures = append(r.Measures, m)
		t.add(m)
	})
	endProgress()
	if err == nil {
		err = t.err
	}
	// Also when the run was interrupted: its measures are not lost.
	r.Load = append(r.Load, load())
	return errors.Join(err, r.end(stdout, o.json))
}

// profile writes a CPU profile to a file until end is called. Without a name it does
// nothing.
func profile(name string) (end func() error, err error) {
	if name == "" {
		return func() error { return nil }, nil
	}
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	if err := pprof.StartCPUProfile(file); err != nil {
		return nil, errors.Join(err, file.Close())
	}
	return func() error {
		pprof.StopCPUProfile()
		return file.Close()
	}, nil
}

// inProcessPeers returns the peers that need only this program.
func inProcessPeers() map[string]peer {
	return map[string]peer{
		ours:       newInProcess(ours, recipesLibrary{}),
		handoff:    newInProcess(handoff, recipesLibrary{[]recipes.LockOption{recipes.WithLocalHandoff(64)}}),
		floor:      newFloor(),
		zkLock:     newInProcess(zkLock, onConn{newStockLock}),
		sequential: newInProcess(sequential, onConn{newSequentialLock}),
		trusting:   newInProcess(trusting, onConn{newTrustingLock}),
		naive:      newInProcess(naive, onConn{newNaiveLock}),
	}
}
