package trackrecord

import (
	"bytes"
	_ "embed" // the bugs and their scripts
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/steps"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis/faults"
)

//go:embed trackrecord.yaml
var builtIn []byte

// Record is what is known of historical bugs, and the script of each.
type Record struct {
	Bugs []Bug `yaml:"bugs"`
}

// Bug is a bug that a lock, or a server, has had. It has one of Run, Steps, Mutant and NotHad.
type Bug struct {
	ID string `yaml:"id"`
	// What is the mistake, in a sentence or two.
	What string `yaml:"what"`
	// Source has the lines that are to blame, such as file.java:12-30 at a tag.
	Source []string `yaml:"source"`
	// Issue is the public report, or the change that mends it; "" if there is none.
	Issue string `yaml:"issue,omitempty"`
	// Versions says which have the bug.
	Versions string `yaml:"versions"`
	// With is what the script runs, such as Curator 5.4.0.
	With string `yaml:"with,omitempty"`
	// Needs is what to do if that is not there.
	Needs string `yaml:"needs,omitempty"`

	// Run is a run of a real lock.
	Run *Run `yaml:"run,omitempty"`
	// Steps is done with real servers.
	Steps *steps.Script `yaml:"steps,omitempty"`
	// Mended is a version of the servers that the steps find nothing wrong with; "" for none.
	Mended string `yaml:"mended,omitempty"`
	// Mutant has the same mistake.
	Mutant string `yaml:"mutant,omitempty"`
	// NotHad is why nothing at hand has the bug.
	NotHad string `yaml:"not_had,omitempty"`
}

// Run is a run of zkverify.
type Run struct {
	// Options are those of zkverify run, without the seed and the folder.
	Options []string `yaml:"options"`
	// Environment of the run, such as ZKVERIFY_CURATOR=5.7.1.
	Environment []string `yaml:"environment,omitempty"`
	// Schedule is the faults, as --schedule takes them; none if Options choose them.
	Schedule string `yaml:"schedule,omitempty"`
	// Hosts is what the run's lock must be called, with its version; "" for any name.
	Hosts string `yaml:"hosts,omitempty"`
	// Guarantees are those of which one must be violated.
	Guarantees []string `yaml:"guarantees"`
	// Faults are those of which one must have struck a party of the violation; none: any.
	Faults []string `yaml:"faults,omitempty"`
}

// BuiltIn returns the record that is built in.
func BuiltIn() (*Record, error) { return read(builtIn) }

func read(text []byte) (*Record, error) {
	r := new(Record)
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(r); err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	for _, b := range r.Bugs {
		if seen[b.ID] {
			return nil, fmt.Errorf("two bugs are called %s", b.ID)
		}
		seen[b.ID] = true
		if err := b.validate(); err != nil {
			return nil, fmt.Errorf("bug %q: %w", b.ID, err)
		}
	}
	return r, nil
}

func (b Bug) validate() error {
	if b.ID == "" || b.What == "" || b.Versions == "" {
		return errors.New("it needs an id, what and versions")
	}
	n := 0
	for _, is := range []bool{b.Run != nil, b.Steps != nil, b.Mutant != "", b.NotHad != ""} {
		if is {
			n++
		}
	}
	switch {
	case n != 1:
		return errors.New("it needs one of run, steps, mutant and not_had")
	case b.Run != nil || b.Steps != nil:
		if len(b.Source) == 0 || b.With == "" || b.Needs == "" {
			return errors.New("an accusation needs source, with and needs")
		}
	}
	if b.Steps != nil {
		return b.Steps.Validate()
	}
	if b.Run != nil {
		return b.Run.validate()
	}
	return nil
}

func (r Run) validate() error {
	if len(r.Options) == 0 || len(r.Guarantees) == 0 {
		return errors.New("a run needs options and guarantees")
	}
	if len(r.Faults) > 0 {
		_, err := faults.List().Select(r.Faults, nil, true)
		return err
	}
	return nil
}

// Had says whether there is a script for the bug.
func (b Bug) Had() bool { return b.NotHad == "" }

// CaughtWith is what shows the bug, in words.
func (b Bug) CaughtWith() string {
	switch {
	case b.Mutant != "":
		return "shown by " + b.Mutant + ", which has the same mistake"
	case b.Steps != nil:
		return b.With + ", steps on its servers"
	}
	return b.With
}

// Command shows the bug alone.
func (b Bug) Command() string {
	if !b.Had() {
		return ""
	}
	if strings.ContainsAny(b.ID, " #") {
		return "zkverify track-record --bug '" + b.ID + "'"
	}
	return "zkverify track-record --bug " + b.ID
}

// named returns the bugs of these names, all if there are none.
func (r *Record) named(names []string) ([]Bug, error) {
	if len(names) == 0 {
		return r.Bugs, nil
	}
	var all []Bug
	var known []string
	for _, b := range r.Bugs {
		known = append(known, b.ID)
		if slices.Contains(names, b.ID) {
			all = append(all, b)
		}
	}
	for _, name := range names {
		if !slices.Contains(known, name) {
			return nil, words.Unknown("bug", name, known, "zkverify track-record --list")
		}
	}
	return all, nil
}
