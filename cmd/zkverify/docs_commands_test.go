package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/ensemble/docker"
)

// docCommand is a command in the docs.
type docCommand struct {
	file  string
	line  int
	args  []string
	into  string // the file that its output goes to, if any
	exits []int  // as its comment says
	skip  string // why it is not run
	none  bool   // it has no comment
}

var (
	commandLine = regexp.MustCompile(`^    (?:\$ )?(?:bin/)?zkverify (.*)$`)
	makeLine    = regexp.MustCompile(`^    make (.*)$`)
	exitComment = regexp.MustCompile(`^<!-- exits (\d+(?: or \d+)*) -->$`)
	skipComment = regexp.MustCompile(`^<!-- not run: (.+) -->$`)
)

// docCommands returns the commands of a file: lines that are indented by four
// spaces and begin with zkverify. A comment before each says with which status
// it exits, or why no test runs it.
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
				c.args, c.into = strings.Fields(text), into
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

// asRead returns the pages with the README and the tutorial first, by absolute path.
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

// A folder that holds a run is refused. So no two commands that make one have the same,
// on whatever pages they are.
func TestNoTwoCommandsInTheDocsMakeTheSameFolder(t *testing.T) {
	made := make(map[string]string)
	for _, file := range asRead(t) {
		for _, c := range docCommands(t, file) {
			i := slices.Index(c.args, "--out")
			if i < 0 || c.args[0] == "shrink" || c.args[0] == "report" { // these write files over
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

// Every command in the docs can be typed as it stands there, and every one is
// run by a test or says why not.
func TestCommandsInTheDocsAreUnderstood(t *testing.T) {
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
			var all cli
			parser, err := kong.New(&all, kong.Vars{"version": "", "image": docker.DefaultImage}, kong.Exit(func(int) {}), kong.Bind(&console{}))
			if err != nil {
				t.Fatal(err)
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

// What the pages tell their readers to type is typed, one page after the other, in one
// checkout: the README first, then the tutorial.
func TestCommandsInTheDocsDoWhatIsSaid(t *testing.T) {
	if testing.Short() {
		t.Skip("needs real servers")
	}
	files := asRead(t)
	t.Chdir(t.TempDir())
	for _, file := range files {
		commands := slices.DeleteFunc(docCommands(t, file), func(c docCommand) bool { return c.args == nil || c.exits == nil })
		if len(commands) == 0 {
			continue
		}
		t.Run(filepath.Base(file), func(t *testing.T) {
			for _, c := range commands {
				args := slices.Clone(c.args)
				// A reader has more time than a test.
				for i, arg := range args {
					if i > 0 && args[i-1] == "--duration" && (arg == "20s" || arg == "30s" || arg == "60s") {
						args[i] = "8s"
					}
				}
				got, text := -1, ""
				// The order of concurrent requests is not defined: a bug may need a second try.
				for try := 0; try < 3 && !slices.Contains(c.exits, got); try++ {
					for i, arg := range args {
						if try > 0 && arg == "--out" {
							_ = os.RemoveAll(args[i+1])
						}
					}
					var out, err bytes.Buffer
					got = zkverify(args, &console{out: &out, err: &err})
					text = out.String() + err.String()
					if c.into != "" {
						if err := os.WriteFile(c.into, out.Bytes(), 0o644); err != nil {
							t.Fatal(err)
						}
					}
				}
				if !slices.Contains(c.exits, got) || strings.Contains(text, "the run failed") {
					t.Fatalf("%s:%d: zkverify %s: exit %d, want %v:\n%s", c.file, c.line, strings.Join(args, " "), got, c.exits, text)
				}
			}
		})
	}
}
