package main

import (
	"bufio"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/ensembletest"
)

// smallField is a field of three locks: a correct one; one whose clients take the lock when a
// waiter before them has given up, so that there are two holders; and one that cannot be run.
const smallField = `
options: [--ensemble, KIND, --clients, "4", --locks, "1", --hold, 20ms, --duration, 3s]
plans:
  - {name: ends of sessions, faults: [expire-session]}
libraries:
  - {name: recipes, id: recipes, language: Go, locks: [{name: Mutex, recipe: mutex, target: recipes}]}
  - {name: go-zookeeper, id: zk, language: Go, versions: [1.0.4], locks: [{name: Lock, recipe: mutex, target: plain-lists-once}]}
  - {name: absent, id: absent, language: C, versions: [1], worker: /bin/sh -c 'echo it is not installed >&2; exit 69', locks: [{name: Lock, recipe: mutex, options: [--workers, "2"]}]}
`

const smallExplanation = `
explanations:
  - id: belief
    title: A holder that believes for too long
    locks: [zk-*]
    guarantees: ["mutual exclusion", "no lost update, plain", fencing, fairness, progress, first node, answers are true, no leak, "no lost update, guarded", "no lost update, fenced", loss is told, reentrancy]
    why: The lock never looks at its session.
    source: ["lock.go:1-2"]
`

// A field's runs are made, continued, explained, repeated and merged.
func TestAFieldOfLocks(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "field.yaml"), filepath.Join(dir, "field")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(strings.ReplaceAll(text, "KIND", ensembletest.Kind(t))), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	wants := func(what, text string, patterns ...string) {
		t.Helper()
		for _, p := range patterns {
			if !regexp.MustCompile(p).MatchString(text) {
				t.Errorf("%s: no %q in\n%s", what, p, text)
			}
		}
	}
	read := func(name string) string {
		t.Helper()
		text, err := os.ReadFile(filepath.Join(out, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}

	write(smallField)
	status, said, _ := inProcess(t, "field", "--field", file, "--out", out, "--jobs", "2")
	if status != exitViolated {
		t.Errorf("a violation without an explanation: exit status %d", status)
	}
	wants("a field", said, `recipes/Mutex, ends of sessions, seed 1: (holds|not exercised)`, `zk-1.0.4/Lock, ends of sessions, seed 1: violated: .*mutual exclusion`,
		`absent-1/Lock did not run: .*not installed`, `not explained: zk-1.0.4/Lock violated mutual exclusion.*, such as: `, `2 of 3 runs were made`)
	wants("its counts", read("counts.json"), `"lock":"zk-1.0.4/Lock","runs":1,`)
	wants("its table", read("field.md"), `\|recipes/Mutex\|(✓ 1|\?)\|`, `\|zk-1.0.4/Lock\|✗ 1/1, not explained\|`, `\|absent-1/Lock\|not run: .*not installed`, `(?s)## Not explained.*zk-1.0.4/Lock: mutual exclusion`)

	write(smallField + smallExplanation)
	started := time.Now()
	status, said, _ = inProcess(t, "field", "--field", file, "--out", out)
	if status != exitUnknown {
		t.Errorf("a lock cannot be run: exit status %d", status)
	}
	wants("a field that continues", said, `3 runs, 1 of them to make`)
	if strings.Contains(said, "not explained") || time.Since(started) > 3*time.Second && strings.Contains(said, "recipes/Mutex, ") {
		t.Errorf("it did not continue what is there:\n%s", said)
	}
	status, said, _ = inProcess(t, "field", "again", out, "--field", file, "--times", "2", "--jobs", "2")
	if status != exitHolds {
		t.Errorf("again: exit status %d: %s", status, said)
	}
	wants("runs that are repeated", said, `zk-1.0.4/Lock, .*: came back [12] of 2 times`)
	wants("the page of an explained violation", read("field.md"), `### A holder that believes for too long`, `lock.go:1-2`, `\|lock\|mutual exclusion\|`, `\|zk-1.0.4/Lock\|1 \([12]/2\)\|`, `    zkverify field --lock zk-1.0.4/Lock --plan 'ends of sessions' --dry-run`)
	wants("the page for a browser", read("index.html"), `<article id="belief">`, `<pre>[^<]*client \d .* lock &#34;lock-0&#34;`, `<code>zkverify run --ensemble`, `<a href="runs/zk-1.0.4_Lock-ends-of-sessions-1/report.html">report</a>`)

	write(smallField)
	if status, said, _ = inProcess(t, "field", "page", out, "--field", file); status != exitHolds {
		t.Errorf("page: exit status %d: %s", status, said)
	}
	wants("pages without the explanation", read("field.md"), "not explained")

	status, said, _ = inProcess(t, "field", "merge", out, out, "--field", file, "--out", filepath.Join(dir, "whole"))
	if status != exitUsage {
		t.Errorf("two parts that are one: exit status %d: %s", status, said)
	}
	status, said, _ = inProcess(t, "field", "merge", out, "--field", file, "--out", filepath.Join(dir, "whole"))
	if status != exitHolds {
		t.Errorf("merge: exit status %d: %s", status, said)
	}
	if _, err := os.Stat(filepath.Join(dir, "whole", "runs", "zk-1.0.4_Lock-ends-of-sessions-1", "report.html")); err != nil {
		t.Error(err)
	}
}

func TestAFieldThatCannotBe(t *testing.T) {
	for name, c := range map[string]struct{ text, flag, says string }{
		"no file":                  {"", "", "no such file"},
		"no YAML":                  {"plans: [", "", "field.yaml"},
		"an unknown field":         {strings.Replace(smallField, "options", "optoins", 1), "", `unknown field "optoins"`},
		"no plan":                  {"libraries: []", "", "it needs plans and libraries"},
		"two locks of a name":      {strings.ReplaceAll(smallField, "id: zk", "id: zk, worker: a"), "", "either a target or the library's worker"},
		"versions without choice":  {strings.ReplaceAll(smallField, "[1.0.4]", "[1.0.4, 1.0.5]"), "", "no variable that chooses one"},
		"a cause of no known lock": {smallField + strings.ReplaceAll(smallExplanation, "zk-*", "etcd-*"), "", "of no lock of the field"},
		"an unknown fault":         {smallField + smallExplanation + "    faults: [expire-sesion]\n", "", "expire-session"},
		"beside another guarantee": {smallField + smallExplanation + "    beside: permits\n", "", `"permits" is none of its guarantees`},
		"a lock that is none":      {smallField, "--lock=recipes,curator", `no lock "curator"; zkverify field --dry-run names all`},
		"a plan that is none":      {smallField, "--plan=no quorun", `no plan "no quorun", only ends of sessions`},
		"no shard":                 {smallField, "--shard=3/2", "is not a part such as 2/4"},
		"options that run refuses": {strings.ReplaceAll(smallField, "--hold, 20ms", "--hodl, 20ms"), "", "did you mean"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			file := filepath.Join(t.TempDir(), "field.yaml")
			if c.text != "" {
				if err := os.WriteFile(file, []byte(c.text), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			args := []string{"field", "--field", file, "--out", filepath.Join(t.TempDir(), "out")}
			if c.flag != "" {
				args = append(args, c.flag)
			}
			status, said, _ := inProcess(t, args...)
			if status != exitUsage || !strings.Contains(said, c.says) {
				t.Errorf("exit status %d, without %q:\n%s", status, c.says, said)
			}
		})
	}
}

// An interrupt loses no results, and the field continues later.
func TestAFieldThatIsInterruptedContinues(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	file, out := filepath.Join(dir, "field.yaml"), filepath.Join(dir, "field")
	if err := os.WriteFile(file, []byte(strings.ReplaceAll(smallField, "KIND", ensembletest.Kind(t))), 0o644); err != nil {
		t.Fatal(err)
	}
	args := []string{"field", "--field", file, "--out", out, "--lock", "recipes", "--lock", "zk-*"}
	cmd := exec.CommandContext(t.Context(), filepath.Join(program(t), "zkverify"), args...)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var said strings.Builder
	for lines := bufio.NewScanner(stdout); lines.Scan(); {
		said.WriteString(lines.Text() + "\n")
		if strings.Contains(lines.Text(), "recipes/Mutex, ends of sessions") {
			if err := cmd.Process.Signal(os.Interrupt); err != nil {
				t.Fatal(err)
			}
		}
	}
	if _ = cmd.Wait(); cmd.ProcessState.ExitCode() != exitUnknown || !strings.Contains(said.String(), "1 of 2 runs were made") {
		t.Errorf("%v:\n%s", cmd.ProcessState, said.String())
	}
	if _, rest, _ := inProcess(t, args...); !strings.Contains(rest, "2 runs, 1 of them to make") || !strings.Contains(rest, "2 of 2 runs were made") {
		t.Errorf("it did not continue:\n%s", rest)
	}
}
