package main

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// docCommand is a command in the docs.
type docCommand struct {
	file  string
	line  int
	args  []string
	into  string // the file for its output, if any
	exits []int  // the exit statuses that its comment names
	skip  string // the reason why no test runs it
	none  bool   // it has no comment
}

var (
	commandLine = regexp.MustCompile(`^    (?:\$ )?(?:bin/)?zkverify (.*)$`)
	makeLine    = regexp.MustCompile(`^    make (.*)$`)
	exitComment = regexp.MustCompile(`^<!-- exits (\d+(?: or \d+)*) -->$`)
	skipComment = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
)

// docCommands returns the commands in a file: lines that are indented by four
// spaces and begin with zkverify. A comment before each names its exit status,
// or the reason why no test runs it.
func docCommands(t *testing.T, file string) (found []docCommand) {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.ReplaceAll(string(text), "\\\n", ""), "\n")
	comment := ""
	for i, line := range lines {
		switch {
		case strings.HasPrefix(line, "<!--"):
			comment = line
		case commandLine.MatchString(line), makeLine.MatchString(line):
			c := docCommand{file: file, line: i + 1}
			if m := commandLine.FindStringSubmatch(line); m != nil {
				text, into, _ := strings.Cut(m[1], " > ")
				c.args, c.into = shellWords(text), into
			}
			switch exits, skip := exitComment.FindStringSubmatch(comment), skipComment.FindStringSubmatch(comment); {
			case exits != nil:
				for _, n := range strings.Split(exits[1], " or ") {
					status, _ := strconv.Atoi(n)
					c.exits = append(c.exits, status)
				}
			case skip != nil:
				c.skip = skip[1]
			default:
				c.none = true
			}
			found, comment = append(found, c), ""
		case strings.TrimSpace(line) != "":
			comment = ""
		}
	}
	return found
}

func docFiles(t *testing.T) []string {
	t.Helper()
	files, err := filepath.Glob("../../docs/*.md")
	if err != nil || len(files) == 0 {
		t.Fatal(files, err)
	}
	return append(files, "../../README.md")
}

// asRead returns the absolute paths of the pages, the README and the tutorial first.
func asRead(t *testing.T) (files []string) {
	t.Helper()
	for _, file := range docFiles(t) {
		file, err := filepath.Abs(file)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
	rank := map[string]int{"README.md": -2, "tutorial.md": -1}
	slices.SortStableFunc(files, func(a, b string) int { return rank[filepath.Base(a)] - rank[filepath.Base(b)] })
	return files
}

// zkverify refuses a folder that holds a run. So no two commands that make a folder may name the
// same one, not even on different pages.
func TestNoTwoCommandsInTheDocsMakeTheSameFolder(t *testing.T) {
	made := make(map[string]string)
	for _, file := range asRead(t) {
		for _, c := range docCommands(t, file) {
			i := slices.Index(c.args, "--out")
			if i < 0 || c.args[0] == "shrink" || c.args[0] == "report" { // these overwrite files
				continue
			}
			at, out := fmt.Sprintf("%s:%d", filepath.Base(file), c.line), c.args[i+1]
			if other, twice := made[out]; twice {
				t.Errorf("%s and %s both make %s", other, at, out)
			}
			made[out] = at
		}
	}
	if len(made) < 5 {
		t.Errorf("only %d folders: %v", len(made), made)
	}
}

// inQuotes matches a word of a command, which may be in quotes.
var inQuotes = regexp.MustCompile(`'[^']*'|\S+`)

func shellWords(text string) (words []string) {
	for _, word := range inQuotes.FindAllString(text, -1) {
		words = append(words, strings.Trim(word, "'"))
	}
	return words
}

// Every command in the docs can be typed as it stands there. A test runs it, or its
// comment says why not.
func TestCommandsInTheDocsAreUnderstood(t *testing.T) {
	t.Parallel()
	var all cli
	parser, err := kong.New(&all, helpVars(), kong.Exit(func(int) {}), kong.Bind(&console{}))
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, file := range docFiles(t) {
		for _, c := range docCommands(t, file) {
			n++
			if c.none {
				t.Errorf("%s:%d: no comment says with which status it exits, or why no test runs it", c.file, c.line)
			}
			if c.args == nil || slices.Contains(c.args, "--help") {
				continue
			}
			if _, err := parser.Parse(c.args); err != nil {
				t.Errorf("%s:%d: zkverify %s: %v", c.file, c.line, strings.Join(c.args, " "), err)
			}
		}
	}
	if n < 20 {
		t.Errorf("only %d commands were found", n)
	}
}

// The commands that the pages tell readers to type are run, each page in a folder of its own.
func TestCommandsInTheDocsDoWhatIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("needs servers")
	}
	zkverify, dir, runs := filepath.Join(program(t), "zkverify"), t.TempDir(), new(sync.Map)
	for _, file := range asRead(t) {
		commands := slices.DeleteFunc(docCommands(t, file), func(c docCommand) bool { return c.args == nil || c.exits == nil })
		if len(commands) == 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			t.Parallel()
			c := checkout{zkverify, filepath.Join(dir, filepath.Base(file)), runs}
			if err := os.Mkdir(c.dir, 0o755); err != nil {
				t.Fatal(err)
			}
			for _, command := range commands {
				c.types(t, command)
			}
		})
	}
}

// checkout runs the commands of a page in a folder that stands for a checkout.
type checkout struct {
	program, dir string
	runs         *sync.Map // the *madeRun of all pages, by their commands without --out
}

// madeRun is a run that several pages may tell readers to make.
type madeRun struct {
	sync.Mutex        // held while the run is made
	dir        string // empty until the run was made
}

// types runs a command of the docs and checks its exit status against the docs. A run that
// several pages make is made once, and its folder copied.
func (c checkout) types(t *testing.T, command docCommand) {
	t.Helper()
	args := slices.Clone(command.args)
	done := func() {}
	if i := slices.Index(args, "--out"); i > 0 && args[0] == "run" {
		run, _ := c.runs.LoadOrStore(strings.Join(slices.Delete(slices.Clone(args), i, i+2), " "), new(madeRun))
		made, dir := run.(*madeRun), filepath.Join(c.dir, args[i+1])
		made.Lock()
		defer made.Unlock()
		if made.dir != "" {
			if err := os.CopyFS(dir, os.DirFS(made.dir)); err != nil {
				t.Fatal(err)
			}
			return
		}
		done = func() { made.dir = dir }
	}
	// A reader of the docs has more time than a test, and real servers.
	for i, arg := range args {
		if i > 0 && args[i-1] == "--duration" && (arg == "20s" || arg == "30s" || arg == "60s") {
			args[i] = "8s"
		}
	}
	if slices.Contains([]string{"run", "selftest", "nightly"}, args[0]) && !slices.Contains(args, "--ensemble") && !slices.Contains(args, "--servers") && args[1] != "merge" {
		args = append(args, "--ensemble", ensembletest.Kind(t))
	}
	got, text := -1, ""
	// The order of concurrent requests is not defined: a bug may need a second try.
	for try := 0; try < 3 && !slices.Contains(command.exits, got); try++ {
		if i := slices.Index(args, "--out"); i > 0 && try > 0 {
			_ = os.RemoveAll(filepath.Join(c.dir, args[i+1]))
		}
		got, text = c.exec(t, command.into, args)
	}
	if !slices.Contains(command.exits, got) || strings.Contains(text, "the run failed") {
		t.Fatalf("%s:%d: zkverify %s: exit %d, want %v:\n%s", command.file, command.line, strings.Join(args, " "), got, command.exits, text)
	}
	done()
}

// exec runs zkverify and returns its exit status and all its output. Its standard output
// goes to the file into, if that is not empty.
func (c checkout) exec(t *testing.T, into string, args []string) (status int, said string) {
	t.Helper()
	var out, err bytes.Buffer
	cmd := exec.CommandContext(t.Context(), c.program, args...)
	cmd.Dir, cmd.Stdout, cmd.Stderr = c.dir, &out, &err
	var exit *exec.ExitError
	if err := cmd.Run(); err != nil && !errors.As(err, &exit) {
		t.Fatal(err)
	}
	if into != "" {
		if err := os.WriteFile(filepath.Join(c.dir, into), out.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return cmd.ProcessState.ExitCode(), out.String() + err.String()
}
