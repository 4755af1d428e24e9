package main

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strings"

	"golang.org/x/mod/modfile"

	"github.com/zkverify/zkverify/internal/words"
	"github.com/zkverify/zkverify/workload/examples"
)

// workerNewCmd makes a worker project of the examples.
type workerNewCmd struct {
	Lang string `required:"" help:"The language: ${languages}." placeholder:"LANG"`
	Dir  string `arg:"" help:"The folder of the project: a new one, or an empty one." placeholder:"DIR"`
}

func (workerNewCmd) Help() string {
	return words.WithExamples("The project hosts a lock of the language's ZooKeeper client: put yours in its place. zkverify worker check finds nothing wrong with it as it is.",
		"zkverify worker new --lang python mylock", "zkverify worker new --lang go internal/mylock")
}

// language lists the files and commands of a project in one language.
type language struct {
	files  map[string]string // the examples' files and folders, and their places in the project
	lock   string            // the file that has the lock
	worker string            // the program
	tool   string            // a program that the project needs
	remedy string            // what to do if there is no tool
}

var languages = map[string]language{
	"go": {
		files: map[string]string{"myworker/main.go": "main.go", "mylock": "mylock"},
		lock:  "mylock/mylock.go", worker: "worker",
		tool: "go", remedy: "install Go from https://go.dev/dl/",
	},
	"java": {
		files: map[string]string{"java": "java", "zookeeper": "zookeeper"},
		lock:  "zookeeper/Lock.java", worker: "zookeeper/zookeeper_worker",
		tool: "javac", remedy: "install a JDK (Debian: default-jdk-headless)",
	},
	"python": {
		files: map[string]string{"my_worker.py": "my_worker.py", "kazoo_lock.py": "kazoo_lock.py", "zkverify_kazoo.py": "zkverify_kazoo.py", "zkverify_worker.py": "zkverify_worker.py"},
		lock:  "kazoo_lock.py", worker: "my_worker.py",
		tool: "python3", remedy: "install Python 3 with kazoo (Debian: python3-kazoo)",
	},
}

// languageNames returns the names of the languages, for a sentence.
func languageNames() string { return strings.Join(slices.Sorted(maps.Keys(languages)), ", ") }

// Validate is called by kong.
func (c *workerNewCmd) Validate() error {
	if _, known := languages[c.Lang]; !known && c.Lang != "" {
		return fmt.Errorf("--lang: there is no %q (known: %s)", c.Lang, languageNames())
	}
	return nil
}

func (c *workerNewCmd) Run(con *console) error {
	entries, err := os.ReadDir(c.Dir)
	switch {
	case err == nil && len(entries) > 0:
		return usage("%s is not empty: name a new folder", c.Dir)
	case err != nil && !os.IsNotExist(err):
		return usage("%w", err)
	}
	l := languages[c.Lang]
	var edit *strings.Replacer
	if c.Lang == "go" {
		if edit, err = goModule(c.Dir); err != nil {
			return usage("%w", err)
		}
	}
	for from, to := range l.files {
		if err := unpack(from, filepath.Join(c.Dir, to), edit); err != nil {
			return usage("%w", err)
		}
	}
	if _, err := exec.LookPath(l.tool); err != nil {
		con.say("There is no %s: %s.", l.tool, l.remedy)
	}
	return c.next(con)
}

// next prints the commands that come next.
func (c *workerNewCmd) next(con *console) error {
	l := languages[c.Lang]
	build := ""
	if dir := words.ShellPath(c.Dir); c.Lang == "go" {
		build = fmt.Sprintf("go -C %s mod tidy && go -C %s build -o %s . && ", dir, dir, l.worker)
	}
	program := filepath.Join(c.Dir, l.worker)
	if !strings.Contains(program, "/") {
		program = "./" + program
	}
	program = words.Shell(words.Shell(program)) // a shell reads it, and then the one that starts the worker
	_, err := fmt.Fprintf(con.out, "The lock is in %s: put yours in its place. Check the worker, then put its lock through faults:\n\n    %szkverify worker check %s\n    zkverify run --workers 3 --worker-command %s\n",
		filepath.Join(c.Dir, l.lock), build, program, program)
	return err
}

// unpack writes a file or folder of the examples to a place.
func unpack(from, to string, edit *strings.Replacer) error {
	return fs.WalkDir(examples.Files, from, func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := examples.Files.ReadFile(name)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o666)
		text := string(content)
		if strings.HasPrefix(text, "#!") {
			mode = 0o777
		}
		if edit != nil {
			text = edit.Replace(text)
		}
		target := filepath.Join(to, strings.TrimPrefix(name, from))
		if err := os.MkdirAll(filepath.Dir(target), 0o777); err != nil {
			return err
		}
		return os.WriteFile(target, []byte(text), mode)
	})
}

// goModule makes the folder a part of the Go module around it, or else a module. The replacer it
// returns gives the example's package its import path there.
func goModule(dir string) (*strings.Replacer, error) {
	absolute, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	prefix := ""
	for parent := filepath.Dir(absolute); prefix == ""; parent = filepath.Dir(parent) {
		if text, err := os.ReadFile(filepath.Join(parent, "go.mod")); err == nil {
			within, err := filepath.Rel(parent, absolute)
			if err != nil {
				return nil, err
			}
			prefix = path.Join(modfile.ModulePath(text), filepath.ToSlash(within))
		} else if parent == filepath.Dir(parent) {
			prefix = "myworker"
			if err := os.MkdirAll(dir, 0o777); err != nil {
				return nil, err
			}
			if err := os.WriteFile(filepath.Join(dir, "go.mod"), []byte(goMod(prefix)), 0o666); err != nil {
				return nil, err
			}
		}
	}
	return strings.NewReplacer("github.com/zkverify/zkverify/workload/examples/mylock", prefix+"/mylock"), nil
}

// goMod returns the go.mod of a project. It requires this program's version, if that is one.
func goMod(name string) string {
	text := "module " + name + "\n"
	if info, ok := debug.ReadBuildInfo(); ok && strings.HasPrefix(info.Main.Version, "v") && !strings.Contains(info.Main.Version, "+") {
		text += "\nrequire " + info.Main.Path + " " + info.Main.Version + "\n"
	}
	return text
}
