package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/help"
	"github.com/zkverify/zkverify/report"
)

// nightlyMergeCmd makes one night of its parts.
type nightlyMergeCmd struct {
	Dirs []string `arg:"" name:"dir" help:"Folders of nights, each a part of the same runs."`
	Out  string   `required:"" help:"Folder for the whole, made if need be." placeholder:"DIR"`
}

func (nightlyMergeCmd) Help() string {
	return help.WithExamples("The folders are those of zkverify nightly --shard. The whole has one page, one junit.xml and one nightly.json, and what was kept of runs that did not pass is copied. "+
		"The exit status is that of the whole: 1 if a guarantee was violated in any run, 0 if all runs were made and all held, else 2.",
		"zkverify nightly merge nightly-1 nightly-2 nightly-3 nightly-4 --out night")
}

func (m *nightlyMergeCmd) Run(ctx context.Context, con *console) error {
	var parts []*report.Night
	for _, dir := range m.Dirs {
		part, err := report.ReadNight(filepath.Join(dir, nightlyFile))
		switch {
		case errors.Is(err, os.ErrNotExist):
			return usage("%s: no %s in this folder: it is not that of a night", dir, nightlyFile)
		case err != nil:
			return usageError{err}
		}
		parts = append(parts, part)
	}
	night, err := report.MergeNights(parts)
	var wrong *report.MergeError
	switch {
	case errors.As(err, &wrong):
		return usage("%s: it cannot be merged with %s: %w", m.Dirs[wrong.Part], strings.Join(m.Dirs[:wrong.Part], ", "), wrong.Err)
	case err != nil:
		return usageError{err}
	}
	if err := m.makeFolder(); err != nil {
		return err
	}
	for i, part := range parts {
		if err := m.copyKept(ctx, con, night, part.Made(), m.Dirs[i]); err != nil {
			return err
		}
	}
	// Last, so that a folder with a night in it is a whole one.
	if err := errors.Join(saveNight(m.Out, night), stepSummary(night, m.Out)); err != nil {
		return err
	}
	con.tellNight(m.Out, night)
	return outcome(night.Outcome())
}

// makeFolder makes the folder of the whole. One that holds a night is refused, so
// that no part is overwritten.
func (m *nightlyMergeCmd) makeFolder() error {
	if _, err := os.Stat(filepath.Join(m.Out, nightlyFile)); err == nil {
		return usage("--out: %s holds a night already: choose another folder, or remove it", m.Out)
	}
	if err := os.MkdirAll(m.Out, 0o755); err != nil {
		return usage("--out: %w", err)
	}
	return nil
}

// copyKept copies what was kept of the runs of a part to the folder of the whole.
// What is not there any more is not linked to.
func (m *nightlyMergeCmd) copyKept(ctx context.Context, con *console, night *report.Night, seeds []int64, dir string) error {
	for i := range night.Results {
		r := &night.Results[i]
		if !slices.Contains(seeds, r.Seed) {
			continue
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		kept := slices.Clone(r.VoidRuns)
		if r.Folder != "" {
			kept = append(kept, r.Folder)
		}
		for _, name := range kept {
			err := m.copyFolder(dir, name)
			switch {
			case errors.Is(err, os.ErrNotExist):
				con.say("warning: %s is not there: that run with seed %d cannot be looked at", filepath.Join(dir, name), r.Seed)
				r.VoidRuns = slices.DeleteFunc(r.VoidRuns, func(void string) bool { return void == name })
				if r.Folder == name {
					r.Folder = ""
				}
			case err != nil:
				return err
			}
		}
	}
	return nil
}

// copyFolder copies a folder of a part. What an interrupted copy has left is replaced.
func (m *nightlyMergeCmd) copyFolder(dir, name string) error {
	if !filepath.IsLocal(name) {
		return usage("%s: %q is no folder in it", filepath.Join(dir, nightlyFile), name)
	}
	from, to := filepath.Join(dir, name), filepath.Join(m.Out, name)
	if _, err := os.Stat(from); err != nil {
		return err
	}
	if err := os.RemoveAll(to); err != nil {
		return err
	}
	return os.CopyFS(to, os.DirFS(from))
}
