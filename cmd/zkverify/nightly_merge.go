package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/report"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// nightlyMergeCmd merges the parts of a night.
type nightlyMergeCmd struct {
	Dirs  []string `arg:"" name:"dir" help:"Folders of nights, each a part of the same runs."`
	Since string   `help:"Folder of an earlier night of the same target, as of nightly; default none." placeholder:"DIR"`
	Out   string   `required:"" help:"Folder for the whole, made if need be." placeholder:"DIR"`

	Bounds costFlags `embed:"" group:"What it may cost:"`
}

func (nightlyMergeCmd) Help() string {
	return words.WithExamples("The folders are those of zkverify nightly --shard. The whole has one page, one junit.xml and one nightly.json, and what was kept of runs that did not pass is copied. "+
		"The exit status is that of the whole: 1 if a guarantee was violated in any run, 0 if all runs were made and all held, else 2.",
		"zkverify nightly merge nightly-1 nightly-2 nightly-3 nightly-4 --out night")
}

func (m *nightlyMergeCmd) Run(ctx context.Context, con *console) error {
	return m.Bounds.within(ctx, func(ctx context.Context) error { return m.merge(ctx, con) })
}

func (m *nightlyMergeCmd) merge(ctx context.Context, con *console) error {
	var parts []*report.Night
	for _, dir := range m.Dirs {
		part := new(report.Night)
		if err := campaign.Load(dir, nightlyFile, part, part.Check); err != nil {
			return usageError{err}
		}
		if part.Seeds == 0 {
			return usage("%s: no %s in this folder: it is not that of a night", dir, nightlyFile)
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
	if err := since(m.Since, night); err != nil {
		return err
	}
	if _, err := os.Stat(filepath.Join(m.Out, nightlyFile)); err == nil {
		return usage("--out: %s holds a night already: choose another folder, or remove it", m.Out)
	}
	kept, err := m.kept(con, night, parts)
	if err != nil {
		return usageError{err}
	}
	// nightly.json is moved there last, so that a folder which holds it holds the whole night.
	if err := folder.Staged(m.Out, nightlyFile, func(dir string) error {
		for _, k := range kept {
			if err := campaign.Copy(ctx, dir, k.dir, k.name); err != nil {
				return err
			}
		}
		return saveNight(dir, night)
	}); err != nil {
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		return usage("--out: %w", err)
	}
	if err := stepSummary(night, m.Out); err != nil {
		return err
	}
	con.tellNight(m.Out, night)
	return outcome(night.Outcome())
}

// keptOf names the folder of a run that a part has kept.
type keptOf struct{ dir, name string }

// kept returns the folders of runs that the parts have kept, and checks them before the first is
// copied: parts may be untrusted, see folder.CheckTree. A folder that is gone is not linked to.
func (m *nightlyMergeCmd) kept(con *console, night *report.Night, parts []*report.Night) (all []keptOf, err error) {
	named := make(map[string]string)
	for i, part := range parts {
		root, err := os.OpenRoot(m.Dirs[i])
		if err != nil {
			return nil, err
		}
		defer root.Close()
		seeds := part.Made()
		for j := range night.Results {
			r := &night.Results[j]
			if !slices.Contains(seeds, r.Seed) {
				continue
			}
			names := slices.Clone(r.VoidRuns)
			if r.Folder != "" {
				names = append(names, r.Folder)
			}
			for _, name := range names {
				if err := folder.Named(name); err != nil {
					return nil, fmt.Errorf("%s: %w", filepath.Join(m.Dirs[i], nightlyFile), err)
				}
				if other, twice := named[name]; twice {
					return nil, fmt.Errorf("%s: %q is named twice, also in %s", filepath.Join(m.Dirs[i], nightlyFile), name, other)
				}
				named[name] = m.Dirs[i]
				err := folder.CheckTree(root, name)
				switch {
				case errors.Is(err, os.ErrNotExist):
					con.say("warning: %s is not there: that run with seed %d cannot be looked at", filepath.Join(m.Dirs[i], name), r.Seed)
					r.VoidRuns = slices.DeleteFunc(r.VoidRuns, func(void string) bool { return void == name })
					if r.Folder == name {
						r.Folder = ""
					}
				case err != nil:
					return nil, err
				default:
					all = append(all, keptOf{m.Dirs[i], name})
				}
			}
		}
	}
	return all, nil
}
