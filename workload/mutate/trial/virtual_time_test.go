package trial

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/workload/simulation"
)

// script writes a program in shell.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

var virtual = VirtualTime{
	Spec:  simulation.Spec{Target: "recipes", Recipes: []string{"all"}, Duration: 3 * time.Second},
	Plans: []string{"random", "edges"}, Version: "v7", Patience: time.Minute,
}

func TestWhatComesOfAProcess(t *testing.T) {
	for _, c := range []struct {
		name, program string
		end           End
		by, reason    string
	}{
		{"it holds", `echo '{"outcome":"holds"}'`, Held, "", ""},
		{"it is violated", `echo '{"outcome":"violated","violated":["fairness","permits"],"reason":"why"}'`, Violated, "fairness,permits", "why"},
		{"it does not decide", `echo '{"outcome":"unknown","reason":"why"}'`, Void, "", "why"},
		{"it does not exercise all", `echo '{"outcome":"not exercised","reason":"why"}'`, Held, "", ""},
		{"it panics", `printf 'words\npanic: why\n\ngoroutine 1' >&2; exit 2`, Panicked, "", "panic: why"},
		{"it dies", `echo 'fatal error: out of memory' >&2; exit 2`, Panicked, "", "fatal error: out of memory"},
		{"it fails", `echo why >&2; exit 1`, Void, "", "why"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o, err := virtual.Run(t.Context(), Run{Program: script(t, c.program), Dir: t.TempDir()})
			if err != nil || o.End != c.end || strings.Join(o.Guarantees, ",") != c.by || !strings.Contains(o.Reason, c.reason) {
				t.Errorf("%+v, %v", o, err)
			}
		})
	}
}

func TestWhatAProcessIsAskedFor(t *testing.T) {
	for recipe, recipes := range map[string]string{"": `"recipes":["all"]`, "barrier": `"recipes":["barrier"]`} {
		asked := filepath.Join(t.TempDir(), "asked")
		run := Run{Program: script(t, `echo "$MUTANT $* $(cat)" >`+asked+`; echo '{"outcome":"holds"}'`), Env: []string{"MUTANT=7"}, Setting: Setting{Seed: 5, Recipe: recipe}, Dir: t.TempDir()}
		if _, err := virtual.Run(t.Context(), run); err != nil {
			t.Fatal(err)
		}
		text, err := os.ReadFile(asked)
		if err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"7 sim-run ", `"version":"v7"`, `"seed":5`, `"plan":"edges"`, recipes, `"duration":3000000000`} {
			if !strings.Contains(string(text), want) {
				t.Errorf("it is asked %s, without %s", text, want)
			}
		}
	}
}

func TestAProcessThatDoesNotEnd(t *testing.T) {
	run := Run{Program: script(t, "exec sleep 60"), Dir: t.TempDir()}
	hasty := virtual
	hasty.Patience = 50 * time.Millisecond
	if o, err := hasty.Run(t.Context(), run); err != nil || o.End != Hung {
		t.Errorf("%+v, %v", o, err)
	}
	alone := Run{Program: run.Program, Dir: t.TempDir(), Setting: Setting{Recipe: "mutex"}}
	if o, err := hasty.Run(t.Context(), alone); err != nil || o.End != Hung || !strings.Contains(o.Reason, "12.5ms") {
		t.Errorf("of one recipe: %+v, %v", o, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := virtual.Run(ctx, run); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
}

func TestAProgramThatDoesNotExist(t *testing.T) {
	if _, err := virtual.Run(t.Context(), Run{Program: filepath.Join(t.TempDir(), "none"), Dir: t.TempDir()}); err == nil {
		t.Error("it is run")
	}
}

func TestAMutantCannotTakeAllMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a bound on memory is Linux's")
	}
	run := Run{Program: script(t, `echo "{\"outcome\":\"unknown\",\"reason\":\"$(ulimit -v)\"}"`), Dir: t.TempDir()}
	o, err := virtual.Run(t.Context(), run)
	if err != nil || o.Reason != strconv.Itoa(mostMemory) {
		t.Errorf("its bound is %q, %v", o.Reason, err)
	}
}
