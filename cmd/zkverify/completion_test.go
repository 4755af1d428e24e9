package main

import (
	"bytes"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/checker"
)

// The shells complete a command, an option and a value.
func TestShellsComplete(t *testing.T) {
	dir, home := program(t), t.TempDir()
	for shell, script := range map[string]string{
		"bash": `source <(zkverify completion bash)
			[[ $(complete -p zkverify) == *'-F _zkverify zkverify' ]] || exit 9
			COMP_WORDS=(zkverify "$@"); COMP_CWORD=$#; _zkverify zkverify; printf '%s\n' "${COMPREPLY[@]}"`,
		"zsh": `compdef() { :; }; _files() { :; }; compadd() { print -l -- "${(@P)2}"; }
			source <(zkverify completion zsh)
			words=(zkverify "$@"); CURRENT=${#words}; _zkverify`,
		"fish": `zkverify completion fish | source
			complete -C "zkverify $argv"`,
	} {
		t.Run(shell, func(t *testing.T) {
			if _, err := exec.LookPath(shell); err != nil {
				t.Skip(err)
			}
			for words, want := range map[string]string{
				"repo":                       "report",
				"run --ensem":                "--ensemble",
				"run --ensemble si":          "simulated",
				"run --ensemble=si":          "--ensemble=simulated",
				"sim --faults down,black-ho": "down,black-hole",
				"list guar":                  "guarantees",
			} {
				cmd := exec.Command(shell, append([]string{"-c", script}, strings.Fields(words)...)...)
				if shell != "fish" { // the first argument is $0
					cmd.Args = slices.Insert(cmd.Args, 3, shell)
				}
				cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"), "HOME="+home)
				var problems bytes.Buffer
				cmd.Stderr = &problems
				out, err := cmd.Output()
				if got := strings.TrimSpace(string(out)); got != want || err != nil {
					t.Errorf("%q is completed as %q, want %q: %v %s", words, got, want, err, &problems)
				}
			}
		})
	}
}

func TestWhatIsNamedIsCompleted(t *testing.T) {
	root, err := modelOfCLI()
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct{ words, has, hasNot string }{
		{"", "run", "sim-run"},
		{"run --verbose --toxiproxy-", "--toxiproxy-listen", "--ensemble"},
		{"run --target ", "zk-lock", "recipes "},
		{"run --ensemble = lo", "local", "--ensemble=local"},
		{"run --ensemble =", "docker", "--recipe"},
		{"explain --guarantee ", checker.NoLostUpdateFenced, "run"},
		{"report -o file ", "", "report"},
		{"help loc", "locks", "list"},
		{"locks ins", "inspect", "locks"},
		{"sim --plan ", "explore", "edges,"},
	} {
		got := completions(t.Context(), root, strings.Split(test.words, " "))
		if test.has != "" && !slices.Contains(got, test.has) || slices.Contains(got, test.hasNot) {
			t.Errorf("%q is completed as %q", test.words, got)
		}
	}
}

// The manual has every command and option that the help has, and groff finds nothing wrong in it.
func TestTheManualIsComplete(t *testing.T) {
	var page bytes.Buffer
	if status := zkverify([]string{"man"}, &console{out: &page, err: &page}); status != 0 {
		t.Fatal(page.String())
	}
	for _, n := range commands(t) {
		_, section, _ := strings.Cut(page.String(), ".SS "+roff(n.FullPath())+"\n")
		section, _, _ = strings.Cut(section, "\n.SS ")
		for _, f := range n.Flags {
			if !f.Hidden && !strings.Contains(section, `\fB`+roff(f.String())+`\fR`) {
				t.Errorf("%s --%s is not in\n%.200s", n.FullPath(), f.Name, section)
			}
		}
		if section == "" {
			t.Errorf("%s is missing", n.FullPath())
		}
	}
	if got := roff("a\n.so x\\y"); got != "a\n\\&.so x\\ey" {
		t.Errorf("%q", got)
	}
	if _, err := exec.LookPath("groff"); err != nil {
		t.Skip(err)
	}
	cmd := exec.Command("groff", "-K", "utf8", "-man", "-ww", "-z", "-T", "utf8")
	cmd.Stdin = &page
	if out, err := cmd.CombinedOutput(); err != nil || len(out) > 0 {
		t.Errorf("%v\n%s", err, out)
	}
}
