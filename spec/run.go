package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
)

// findTools fails if a program is missing, and says how to get it.
func findTools() error {
	for _, tool := range []struct{ program, what, pack string }{
		{"spin", "the model checker spin", "spin"},
		{"cc", "a C compiler", "gcc libc6-dev"},
	} {
		if _, err := exec.LookPath(tool.program); err != nil {
			return fmt.Errorf("%s is missing: run sh ensemble/install.sh --spin, or install it yourself (on Debian: apt-get install %s; spin's home is https://spinroot.com)", tool.what, tool.pack)
		}
	}
	return nil
}

// run makes one search of the model, in a folder of its own. An error is a failure of the
// search, in a sentence.
func (m *model) run(ctx context.Context, s search) (f found, err error) {
	dir, err := os.MkdirTemp("", "zkverify-spec-")
	if err != nil {
		return f, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	file := m.name + ".pml"
	if err := os.WriteFile(filepath.Join(dir, file), []byte(m.text), 0o600); err != nil {
		return f, err
	}
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	defer func() {
		if limited.Err() != nil && ctx.Err() == nil {
			err = fmt.Errorf("%w: it has not ended within %v; raise its time=, or make the model smaller", errIncomplete, s.limit)
		}
	}()

	if out, err := output(limited, dir, "spin", append(append([]string{"-Pcc -E -xc", "-o3"}, s.switches...), "-a", file)...); err != nil {
		return f, fmt.Errorf("spin does not accept %s: %s", file, firstLine(out, "Error"))
	}
	if out, err := output(limited, dir, "cc", append(s.compileFlags(), "-o", "pan", "pan.c")...); err != nil {
		return f, fmt.Errorf("the C compiler does not accept what spin made of %s: %s", file, firstLine(out, "error"))
	}
	out, err := output(limited, dir, "./pan", s.panFlags()...)
	if err != nil {
		return f, fmt.Errorf("%w: pan ended with %w; the machine may have too little memory: %s", errIncomplete, err, firstLine(out, "pan"))
	}
	if f, err = readPan(s, out); err != nil {
		return f, err
	}
	if err := s.judge(f); err != nil {
		return f, err
	}
	if s.want != holds {
		return f, nil
	}
	states, err := output(limited, dir, "./pan", "-d")
	if err != nil {
		return f, fmt.Errorf("pan does not list its states: %w", err)
	}
	return f, m.judgeReached(states, out)
}

// compileFlags are those under which the search is exact: no bit state, no hash compaction.
func (s search) compileFlags() []string {
	flags := []string{"-O2", "-w", "-DCOLLAPSE", "-DMEMLIM=" + strconv.Itoa(s.memory)}
	switch s.mode {
	case safety:
		flags = append(flags, "-DSAFETY", "-DNOCLAIM")
	case accept:
		flags = append(flags, "-DNOCLAIM")
	case progress:
		flags = append(flags, "-DNP", "-DNOCLAIM")
	}
	if s.noReduce {
		flags = append(flags, "-DNOREDUCE")
	}
	return flags
}

func (s search) panFlags() []string {
	flags := []string{"-m" + strconv.Itoa(s.depth)}
	switch s.mode {
	case ltl:
		flags = append(flags, "-a", "-N", s.formula)
	case accept:
		flags = append(flags, "-a")
	case progress:
		flags = append(flags, "-l")
	}
	if s.fair {
		flags = append(flags, "-f")
	}
	return flags
}

// output runs a program in a folder and returns what it prints.
func output(ctx context.Context, dir, program string, args ...string) (string, error) {
	if strings.HasPrefix(program, "./") {
		program = filepath.Join(dir, program)
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Dir = dir
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

// firstLine is the first line that has the word, or else the first.
func firstLine(text, word string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if strings.Contains(line, word) {
			return strings.TrimSpace(line)
		}
	}
	return lines[0]
}
