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
)

func TestWhatComesOfAProcess(t *testing.T) {
	for _, c := range []struct {
		name   string
		of     ended
		end    End
		by     string
		reason string
	}{
		{"it holds", ended{stdout: `{"outcome":"holds"}`}, Held, "", ""},
		{
			"it is violated", ended{stdout: `{"outcome":"violated","verdicts":[{"guarantee":"fairness","outcome":"violated"},{"guarantee":"permits","outcome":"holds"}]}`, err: errors.New("exit status 1")},
			Violated, "fairness", "",
		},
		{"it does not decide", ended{stdout: `{"outcome":"unknown","reason":"why"}`, err: errors.New("exit status 2")}, Void, "", "why"},
		{"it does not exercise all", ended{stdout: `{"outcome":"not exercised","reason":"why"}`, err: errors.New("exit status 2")}, Held, "", "why"},
		{"it panics", ended{stderr: "words\npanic: why\n\ngoroutine 1", err: errors.New("exit status 2")}, Panicked, "", "panic: why"},
		{"it dies", ended{stderr: "fatal error: all goroutines are asleep", err: errors.New("exit status 2")}, Panicked, "", "fatal error: all goroutines are asleep"},
		{"it fails", ended{stderr: "one\ntwo\n", err: errors.New("exit status 2")}, Void, "", "exit status 2: two"},
		{"it does not end", ended{stderr: "SIGQUIT: quit", late: true, err: errors.New("exit status 2")}, Hung, "", "did not end"},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := c.of.outcome()
			if o.End != c.end || strings.Join(o.Guarantees, ",") != c.by || !strings.Contains(o.Reason, c.reason) {
				t.Errorf("%+v", o)
			}
		})
	}
}

// script writes a program in shell.
func script(t *testing.T, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(file, []byte("#!/bin/sh\n"+text+"\n"), 0o777); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestRealTime(t *testing.T) {
	r := RealTime{Duration: 3 * time.Second, Patience: time.Minute}
	run := Run{Program: script(t, `echo "{\"outcome\":\"unknown\",\"reason\":\"$MUTANT $*\"}"`), Env: []string{"MUTANT=7"}, Seed: 5, Dir: t.TempDir()}
	o, err := r.Run(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	if want := "7 run --ensemble simulated --recipe all --duration 3s --seed 5 --json --quiet --out " + run.Dir + "/run"; o.Reason != want {
		t.Errorf("it is started with\n%s\nnot\n%s", o.Reason, want)
	}

	r.Patience = 50 * time.Millisecond
	run.Program = script(t, "exec sleep 60")
	if o, err := r.Run(t.Context(), run); err != nil || o.End != Hung {
		t.Errorf("one that does not end: %+v, %v", o, err)
	}

	r.Patience = time.Minute
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	if _, err := r.Run(ctx, run); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("interrupted: %v", err)
	}
	run.Program = filepath.Join(t.TempDir(), "none")
	if _, err := r.Run(t.Context(), run); err == nil {
		t.Error("a program that does not exist is run")
	}
}

func TestAMutantCannotTakeAllMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("a bound on memory is Linux's")
	}
	run := Run{Program: script(t, `echo "{\"outcome\":\"unknown\",\"reason\":\"$(ulimit -v)\"}"`), Dir: t.TempDir()}
	o, err := RealTime{Duration: time.Second, Patience: time.Minute}.Run(t.Context(), run)
	if err != nil || o.Reason != strconv.Itoa(mostMemory) {
		t.Errorf("its bound is %q, %v", o.Reason, err)
	}
}
