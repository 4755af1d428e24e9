package field

import (
	"bytes"
	_ "embed" // the field that is built in
	"errors"
	"fmt"
	"os"
	"path"
	"slices"
	"strings"

	"github.com/goccy/go-yaml"
)

//go:embed field.yaml
var builtIn []byte

// Field holds locks of libraries to test, the plans of faults to test them under, and explanations
// of the violations that they show.
type Field struct {
	// Options are options of zkverify run that every run gets.
	Options []string `yaml:"options"`
	// Plans are run one after another. Each lock runs under each plan.
	Plans []Plan `yaml:"plans"`
	// Libraries are the libraries with their locks.
	Libraries []Library `yaml:"libraries"`
	// Explanations explain violations.
	Explanations []Explanation `yaml:"explanations"`
}

// Plan holds the faults of a run.
type Plan struct {
	Name    string   `yaml:"name"`
	Faults  []string `yaml:"faults"`            // as zkverify run --faults takes them
	Options []string `yaml:"options,omitempty"` // of zkverify run
}

// Library is a library of locks, in one or several versions.
type Library struct {
	Name     string   `yaml:"name"`
	ID       string   `yaml:"id"`
	Language string   `yaml:"language"`
	Versions []string `yaml:"versions,omitempty"` // none: the version of this program
	// Variable is the environment variable that tells the worker which version to use.
	// Without it there is one version.
	Variable string      `yaml:"variable,omitempty"`
	Worker   string      `yaml:"worker,omitempty"` // the command of the worker process
	Locks    []LockEntry `yaml:"locks"`
}

// LockEntry is a lock of a library.
type LockEntry struct {
	Name     string   `yaml:"name"`
	Recipe   string   `yaml:"recipe"`
	Argument string   `yaml:"argument,omitempty"` // of the worker's command
	Target   string   `yaml:"target,omitempty"`   // of zkverify run, for locks that need no worker
	Careless bool     `yaml:"careless,omitempty"` // the worker has the option --careless
	Options  []string `yaml:"options,omitempty"`  // of zkverify run
}

// Lock is a row of the table: a lock of one version of a library, used in one way.
type Lock struct {
	Language, Recipe string

	id       string // in folders and on the command line, such as curator-5.4.0/LeaderLatch
	variable string
	options  []string
}

// Of returns the field in a file, or the built-in field if file is "".
func Of(file string) (*Field, error) {
	text, name := builtIn, "the built-in field"
	if file != "" {
		read, err := os.ReadFile(file)
		if err != nil {
			return nil, err
		}
		text, name = read, file
	}
	f := new(Field)
	if err := yaml.NewDecoder(bytes.NewReader(text), yaml.Strict()).Decode(f); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := f.validate(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func (f *Field) validate() error {
	if len(f.Plans) == 0 || len(f.Libraries) == 0 {
		return errors.New("it needs plans and libraries")
	}
	seen := map[string]bool{}
	for _, p := range f.Plans {
		if p.Name == "" || len(p.Faults) == 0 || seen[p.Name] {
			return fmt.Errorf("plan %q needs a name of its own, and faults", p.Name)
		}
		seen[p.Name] = true
	}
	for _, l := range f.Libraries {
		if l.Name == "" || l.ID == "" || len(l.Locks) == 0 || strings.Contains(l.ID, "/") {
			return fmt.Errorf("library %q needs a name, an id without a slash, and locks", l.Name)
		}
		if len(l.Versions) > 1 && l.Variable == "" {
			return fmt.Errorf("library %q has several versions and no variable that chooses one", l.Name)
		}
		for _, e := range l.Locks {
			if e.Name == "" || e.Recipe == "" || (e.Target == "") == (l.Worker == "") {
				return fmt.Errorf("lock %q of %q needs a name, a recipe, and either a target or the library's worker", e.Name, l.Name)
			}
		}
	}
	for _, l := range f.Locks() {
		if seen[l.id] {
			return fmt.Errorf("two locks are called %s", l.id)
		}
		seen[l.id] = true
	}
	return f.validateExplanations()
}

// plan returns the plan of a name, or one without a name if there is none.
func (f *Field) plan(name string) (found Plan) {
	for _, p := range f.Plans {
		if p.Name == name {
			found = p
		}
	}
	return found
}

// Locks returns the rows of the table.
func (f *Field) Locks() (all []Lock) {
	for _, l := range f.Libraries {
		versions := l.Versions
		if len(versions) == 0 {
			versions = []string{""}
		}
		for _, version := range versions {
			for _, e := range l.Locks {
				all = append(all, l.lock(version, e, false))
				if e.Careless {
					all = append(all, l.lock(version, e, true))
				}
			}
		}
	}
	return all
}

func (l Library) lock(version string, e LockEntry, careless bool) Lock {
	lock := Lock{
		Language: l.Language, Recipe: e.Recipe,
		id: strings.TrimSuffix(l.ID+"-"+version, "-") + "/" + e.Name, options: []string{"--recipe", e.Recipe},
	}
	if l.Variable != "" {
		lock.variable = l.Variable + "=" + version
	}
	if careless {
		lock.id += "/careless"
	}
	if e.Target != "" {
		lock.options = append(lock.options, "--target", e.Target)
	} else {
		command := strings.TrimSpace(l.Worker + " " + e.Argument)
		if careless {
			command += " --careless"
		}
		lock.options = append(lock.options, "--worker-command", command)
	}
	lock.options = append(lock.options, e.Options...)
	return lock
}

// matches reports whether a name, or its beginning up to a slash, matches one of several patterns,
// which are those of path.Match. No patterns stand for all names.
func matches(names []string, name string) bool {
	return len(names) == 0 || slices.ContainsFunc(names, func(pattern string) bool {
		parts := strings.Split(name, "/")
		for i := range parts {
			if ok, err := path.Match(pattern, strings.Join(parts[:i+1], "/")); err == nil && ok {
				return true
			}
		}
		return false
	})
}
