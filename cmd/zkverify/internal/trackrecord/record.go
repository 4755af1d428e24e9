package trackrecord

import (
	"bytes"
	_ "embed" // the bugs and their scripts
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/nemesis/faults"
)

//go:embed trackrecord.yaml
var builtIn []byte

// Record holds the known historical bugs, and the script of each.
type Record struct {
	Bugs []Bug `yaml:"bugs"`
}

// Bug is a historical bug of a lock or a server. One of Run, Steps, Mutant and NotHad is set.
type Bug struct {
	ID string `yaml:"id"`
	// What is the mistake, in a sentence or two.
	What string `yaml:"what"`
	// Source lists the lines that are to blame, such as file.java:12-30 at a tag.
	Source []string `yaml:"source"`
	// Issue is the public report of the bug, or the change that fixes it; "" if there is none.
	Issue string `yaml:"issue,omitempty"`
	// Versions are the versions with the bug, in words.
	Versions string `yaml:"versions"`
	// With is the software that the script runs, such as Curator 5.4.0.
	With string `yaml:"with,omitempty"`
	// Needs is the advice if that software is not installed.
	Needs string `yaml:"needs,omitempty"`

	// Run is a run of a real lock with the bug.
	Run *Run `yaml:"run,omitempty"`
	// Steps are carried out on real servers.
	Steps *Script `yaml:"steps,omitempty"`
	// Mended is a version of the servers about which the steps have no finding; "" for none.
	Mended string `yaml:"mended,omitempty"`
	// Mutant is the name of a mutant with the same mistake.
	Mutant string `yaml:"mutant,omitempty"`
	// NotHad is the reason why there is no software with the bug to run.
	NotHad string `yaml:"not_had,omitempty"`
}

// Run is a run of zkverify.
type Run struct {
	// Options are the options of zkverify run, without the seed and the folder.
	Options []string `yaml:"options"`
	// Environment is added to the environment of the run, such as ZKVERIFY_CURATOR=5.7.1.
	Environment []string `yaml:"environment,omitempty"`
	// Schedule is the text of a schedule of faults for --schedule; "" if Options choose the faults.
	Schedule string `yaml:"schedule,omitempty"`
	// Hosts is the beginning of the name, with the version, that the run's lock must have; "" for
	// any name.
	Hosts string `yaml:"hosts,omitempty"`
	// Guarantees are the guarantees of which the run must violate one.
	Guarantees []string `yaml:"guarantees"`
	// Faults are the faults of which one must have struck a party of the violation. If there are
	// none, any fault will do.
	Faults []string `yaml:"faults,omitempty"`
}

// BuiltIn returns the built-in record.
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

// Had reports whether there is a script for the bug.
func (b Bug) Had() bool { return b.NotHad == "" }

// CaughtWith describes in words how the bug is shown.
func (b Bug) CaughtWith() string {
	switch {
	case b.Mutant != "":
		return "shown by " + b.Mutant + ", which has the same mistake"
	case b.Steps != nil:
		return b.With + ", steps on its servers"
	}
	return b.With
}

// Command returns the command that runs the script of this bug alone, "" if it has none.
func (b Bug) Command() string {
	if !b.Had() {
		return ""
	}
	if strings.ContainsAny(b.ID, " #") {
		return "zkverify track-record --bug '" + b.ID + "'"
	}
	return "zkverify track-record --bug " + b.ID
}

// named returns the bugs with these names, all bugs if there are no names.
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
