package main

import (
	"bytes"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/alecthomas/kong"
)

// commands returns every command that is not just a group of others.
func commands(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := newParser(new(cli), &console{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
	laboratory(parser.Model.Node) // shows these commands
	return parser.Model.Leaves(true)
}

func TestHelpSaysWhatHoldsWithoutAnOption(t *testing.T) {
	n := 0
	for _, command := range commands(t) {
		for _, flags := range command.AllFlags(true) {
			for _, f := range flags {
				if f.Target.Kind() == reflect.Bool || f.Target.Kind() == reflect.Pointer && f.Target.Type().Elem().Kind() == reflect.Bool {
					continue // off
				}
				if f.Required {
					continue // a required flag has no default
				}
				n++
				if text := helpOfFlag(f.Value); !saysDefault(text, f.Default) {
					t.Errorf("%s --%s: %s", command.Path(), f.Name, text)
				}
			}
		}
	}
	if n < 50 {
		t.Errorf("only %d flags", n)
	}
}

func TestExamplesAreOnLinesOfTheirOwn(t *testing.T) {
	for _, command := range commands(t) {
		var out bytes.Buffer
		if status := zkverify(append(strings.Fields(strings.TrimPrefix(command.Path(), "zkverify ")), "--help"), &console{out: &out, err: &out}); status != 0 {
			t.Errorf("%s --help: exit %d", command.Path(), status)
		}
		_, examples, found := strings.Cut(out.String(), "Example")
		if !found {
			t.Errorf("%s --help has no example:\n%s", command.Path(), out.String())
			continue
		}
		n := 0
		for _, line := range strings.Split(examples, "\n")[2:] {
			if line == "" {
				break
			}
			n++
			args, indented := strings.CutPrefix(line, "    ")
			if !indented || strings.Count(args, "zkverify ") != 1 {
				t.Errorf("%s --help: example %q", command.Path(), line)
			}
		}
		if n == 0 {
			t.Errorf("%s --help has no example:\n%s", command.Path(), examples)
		}
	}
}

func TestWithoutACommandHelpIsPrinted(t *testing.T) {
	var out bytes.Buffer
	if status := zkverify(nil, &console{out: &out, err: &out}); status != exitUsage || !strings.Contains(out.String(), "Test a lock:") {
		t.Errorf("exit %d:\n%s", status, out.String())
	}
}

// helpPage returns the output of a command.
func helpPage(t *testing.T, args ...string) string {
	t.Helper()
	var out bytes.Buffer
	if status := zkverify(args, &console{out: &out, err: &out}); status != 0 {
		t.Errorf("%q: exit %d", args, status)
	}
	return out.String()
}

// The first page has at most a dozen commands, and that of the laboratory has all others.
func TestEveryCommandIsOnAPage(t *testing.T) {
	entries := func(page string) (names []string) {
		_, list, _ := strings.Cut(page, "--version")
		for line := range strings.Lines(list) {
			if name, ok := strings.CutPrefix(line, "  "); ok && name[0] != ' ' && name[0] != '-' {
				names = append(names, strings.Fields(name)[0])
			}
		}
		return names
	}
	first, lab := entries(helpPage(t, "--help")), entries(helpPage(t, "lab"))
	if len(first) > 12 {
		t.Errorf("%d entries on the first page: %q", len(first), first)
	}
	for _, command := range commands(t) {
		name := strings.Fields(command.Path())[0]
		if slices.Contains(first, name) == slices.Contains(lab, name) {
			t.Errorf("%s is on both pages or on none: %q, %q", name, first, lab)
		}
	}
}

func TestHelpOfACommand(t *testing.T) {
	usual, all := helpPage(t, "run", "--help"), helpPage(t, "run", "--help-all")
	for _, args := range [][]string{{"help", "run"}, {"run", "-h"}} {
		if got := helpPage(t, args...); got != usual {
			t.Errorf("%q prints\n%s", args, got)
		}
	}
	if strings.Contains(usual, "--sync-limit") || !strings.Contains(usual, "options more: zkverify run --help-all") || !strings.Contains(usual, "--seed") {
		t.Errorf("the usual page:\n%s", usual)
	}
	if !strings.Contains(all, "--sync-limit") || strings.Contains(all, "more: zkverify") {
		t.Errorf("the whole page:\n%s", all)
	}
	var out bytes.Buffer
	if status := zkverify([]string{"locks", "watch", "--nonsense"}, &console{out: &out, err: &out}); status != exitUsage || !strings.Contains(out.String(), "Try zkverify locks watch --help.") {
		t.Errorf("exit %d: %s", status, out.String())
	}
}
