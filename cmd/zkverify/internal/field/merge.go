package field

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"path/filepath"
	"slices"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/campaign"
	"github.com/zkverify/zkverify/workload/folder"
)

// Merge merges the parts of a field.
type Merge struct {
	Parts []string `arg:"" help:"Folders of zkverify field --shard."`
	Field string   `help:"The YAML file of the field; default the one that is built in." placeholder:"FILE"`
	Out   string   `required:"" help:"Folder of the whole, which must hold no field; no default." placeholder:"DIR"`
}

// Help is called by kong.
func (Merge) Help() string {
	return words.WithExamples("The parts are those of one field, made by the same zkverify. What they kept of their runs is copied.", "zkverify field merge part-1 part-2 --out field")
}

// Run merges the parts. It returns a campaign.Refused, or an error of the file system.
func (c *Merge) Run(ctx context.Context, out io.Writer) error {
	whole, err := load(c.Out)
	if err != nil {
		return campaign.Refuse("%w", err)
	}
	if len(whole.Results) > 0 {
		return campaign.Refuse("--out: %s holds a field already", c.Out)
	}
	f, err := Of(c.Field)
	if err != nil {
		return campaign.Refuse("--field: %w", err)
	}
	for _, dir := range c.Parts {
		if err := whole.take(dir, c.Field); err != nil {
			return err
		}
	}
	if err := whole.checkFolders(); err != nil { // two parts may name the same folder
		return campaign.Refuse("%w", err)
	}
	// All parts have been checked before the first is copied.
	if err := folder.Staged(c.Out, stateFile, func(to string) error {
		for _, dir := range c.Parts {
			if err := copyRuns(ctx, to, dir); err != nil {
				return err
			}
		}
		return errors.Join(runner{dir: to}.tidy(whole), whole.save(to, f))
	}); err != nil {
		return campaign.Refuse("--out: %w", err)
	}
	words.Fprintf(out, "%d runs; to look at it: %s and %s\n", len(whole.Results), filepath.Join(c.Out, pageFile), filepath.Join(c.Out, markdownFile))
	return nil
}

// take adds the results of a part.
func (s *State) take(dir, file string) error {
	f, part, err := open(file, dir)
	if err != nil {
		return err
	}
	if err := f.checkCommands(part); err != nil {
		return campaign.Refuse("%s: %w", dir, err)
	}
	if s.Version != "" && s.Version != part.Version {
		return campaign.Refuse("%s was made by zkverify %s, the parts before it by %s", dir, part.Version, s.Version)
	}
	s.Version = part.Version
	if s.Started.IsZero() || part.Started.Before(s.Started) {
		s.Started = part.Started
	}
	for _, r := range part.Results {
		for _, old := range s.Results {
			if old.Lock == r.Lock && old.Plan == r.Plan && old.Seed == r.Seed {
				return campaign.Refuse("%s has a run that a part before it has too: %s", dir, r.Command)
			}
		}
	}
	s.Results = append(s.Results, part.Results...)
	return nil
}

// checkCommands returns an error unless the commands of a part are those of the field: the pages
// tell readers to type them.
func (f *Field) checkCommands(part *State) error {
	for i := range part.Results {
		r := &part.Results[i]
		at := slices.IndexFunc(f.Locks(), func(l Lock) bool { return l.id == r.Lock })
		if at < 0 {
			return fmt.Errorf("it has a run of %q, which is no lock of this field", r.Lock)
		}
		run := f.plannedAs(f.Locks()[at], r, 0)
		if run.Plan.Name == "" || r.Command != run.Command() {
			return fmt.Errorf("it has results of other commands, such as %q where this field has %q", r.Command, run.Command())
		}
		for _, a := range r.Again {
			if a.Command == "" {
				continue
			}
			longer := run
			longer.duration = a.longer() // 0 for another command, which is refused below
			if longer.duration <= 0 || a.Command != longer.Command() {
				return fmt.Errorf("it has repeats by another command than a longer %q: %q", r.Command, a.Command)
			}
		}
	}
	return nil
}

// copyRuns copies the run folders that a part has kept.
func copyRuns(ctx context.Context, to, dir string) error {
	part, err := load(dir)
	if err != nil {
		return err
	}
	for _, r := range part.Results {
		if r.Folder == "" {
			continue
		}
		if err := campaign.Copy(ctx, to, dir, filepath.ToSlash(r.Folder)); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
