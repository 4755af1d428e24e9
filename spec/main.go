package spec

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"

	"github.com/zkverify/zkverify/internal/words"
)

// Main carries out a command line and returns its exit status.
func Main(args []string) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, args, os.Stdout, os.Stderr)
	switch {
	case err == nil, errors.Is(err, flag.ErrHelp):
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(os.Stderr, "spec: interrupted")
		return 130
	}
	fmt.Fprintln(os.Stderr, "spec:", err)
	return 1
}

func run(ctx context.Context, args []string, stdout, stderr io.Writer) error {
	flags := flag.NewFlagSet("spec", flag.ContinueOnError)
	flags.SetOutput(stderr)
	flags.Usage = func() {
		fmt.Fprintln(stderr, "Usage: go run ./spec/search [flags] [TEXT...]\n\nMakes the searches whose model, name or switches contain one of the texts, or every search.")
		flags.PrintDefaults()
	}
	quick := flags.Bool("quick", false, "only the searches that make test makes")
	page := flags.String("write", "", "when every search is as expected, write the list to this `page`, between its marks")
	paths := flags.String("paths", "", "write the paths of the models, for zkverify sim --plan spec, to this `file`, and search for nothing else")
	jobs := flags.Int("jobs", 2, "searches made at the same time")
	if err := flags.Parse(args); err != nil {
		return err
	}
	if *page != "" && (*quick || flags.NArg() > 0) {
		return errors.New("-write needs every search: leave out -quick and the texts")
	}
	all, err := models()
	if err != nil {
		return err
	}
	if err := findTools(); err != nil {
		return err
	}
	if *paths != "" {
		text, err := makePaths(ctx, all, max(*jobs, 1))
		if err != nil {
			return err
		}
		return os.WriteFile(*paths, []byte(text), 0o644)
	}
	chosen := choose(all, *quick, flags.Args())
	if len(chosen) == 0 {
		return fmt.Errorf("no search has %q in its model, name or switches", flags.Args())
	}
	made := makeAll(ctx, chosen, max(*jobs, 1), stderr)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if err := printTable(stdout, made); err != nil {
		return err
	}
	if err := failures(made); err != nil || *page == "" {
		return err
	}
	return writePage(*page, made)
}

// trial is a search and its outcome.
type trial struct {
	model  *model
	search search
	found  found
	err    error
}

// choose returns the searches that contain one of the texts.
func choose(all []*model, quick bool, texts []string) []trial {
	var chosen []trial
	for _, m := range all {
		for _, s := range m.searches {
			in := s.String() + " " + strings.Join(s.switches, " ")
			if (s.quick || !quick) && (len(texts) == 0 || slices.ContainsFunc(texts, func(t string) bool { return strings.Contains(in, t) })) {
				chosen = append(chosen, trial{model: m, search: s})
			}
		}
	}
	return chosen
}

// makeAll makes the searches, several at a time, and prints a line as each one ends.
func makeAll(ctx context.Context, trials []trial, jobs int, progress io.Writer) []trial {
	var mu sync.Mutex
	next, ended := 0, 0
	var wg sync.WaitGroup
	for range jobs {
		wg.Go(func() {
			for ctx.Err() == nil {
				mu.Lock()
				i := next
				next++
				mu.Unlock()
				if i >= len(trials) {
					return
				}
				t := &trials[i]
				t.found, t.err = t.model.run(ctx, t.search)
				mu.Lock()
				ended++
				fmt.Fprintf(progress, "%d of %d: %v: %s\n", ended, len(trials), t.search, t.outcome())
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return trials
}

// failures returns an error that lists the searches that are not as expected.
func failures(made []trial) error {
	var all []error
	for _, t := range made {
		if t.err != nil {
			all = append(all, fmt.Errorf("%v: %w", t.search, t.err))
		}
	}
	if len(all) == 0 {
		return nil
	}
	return fmt.Errorf("%s of %s not as expected:\n%w", words.Count(len(all), "search"), words.Count(len(made), "search"), errors.Join(all...))
}
