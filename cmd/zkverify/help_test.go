package main

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/alecthomas/kong"

	"github.com/zkverify/zkverify/cmd/zkverify/internal/help"
)

// commands returns every command that does something.
func commands(t *testing.T) []*kong.Node {
	t.Helper()
	parser, err := newParser(new(cli), &console{}, func(int) {})
	if err != nil {
		t.Fatal(err)
	}
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
					continue // there is nothing without it
				}
				n++
				if text := help.OfFlag(f.Value); !help.SaysDefault(text, f.Default) {
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
	if status := zkverify(nil, &console{out: &out, err: &out}); status != exitUsage || !strings.Contains(out.String(), "Commands:") {
		t.Errorf("exit %d:\n%s", status, out.String())
	}
}
