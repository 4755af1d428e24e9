package spec

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

// findTools returns an error if a program is missing. The error tells how to install it.
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

// run makes one search of the model. An error is a failure of the search, in a sentence.
func (m *model) run(ctx context.Context, s search) (found, error) {
	f, _, err := s.make(ctx, m.text)
	if err == nil {
		err = s.judge(f)
	}
	if err != nil || s.want != holds {
		return f, err
	}
	return f, m.checkReached(ctx, s)
}

// checkReached fails if a search that holds does not reach a line that the model marks: its
// assertions are then never tried. For each such line it searches for an assertion that
// fails in it.
func (m *model) checkReached(ctx context.Context, s search) error {
	n := 0
	for _, line := range m.reached {
		at := search{model: s.model, name: s.name, switches: s.switches, mode: reach, depth: s.depth, memory: s.memory, limit: s.limit}
		f, code, err := at.make(ctx, m.failingAt(line))
		switch {
		case err != nil:
			return fmt.Errorf("%s.pml:%d, which the model marks, is not reached: %w", m.name, line, err)
		case !strings.Contains(code, failure(line)): // the line belongs to other switches
		case f.what != failure(line):
			return fmt.Errorf("the search holds for nothing: it never reaches %s.pml:%d, %s", m.name, line, m.line(line))
		default:
			n++
		}
	}
	if n == 0 {
		return fmt.Errorf("the search has no line that %s.pml marks /* reached */: it may hold for nothing", m.name)
	}
	return nil
}

// make makes the search of a text in a folder of its own. It also returns the steps that
// spin has generated from the text.
func (s search) make(ctx context.Context, text string) (f found, code string, err error) {
	dir, err := os.MkdirTemp("", "zkverify-spec-")
	if err != nil {
		return f, "", err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := s.build(ctx, dir, text, includes(), s.compileFlags()...); err != nil {
		return f, "", err
	}
	steps, err := os.ReadFile(filepath.Join(dir, "pan.m"))
	if err != nil {
		return f, "", err
	}
	out, err := s.pan(ctx, dir)
	if err != nil {
		return f, "", err
	}
	f, err = readPan(s, out)
	return f, string(steps), err
}

// build makes the program pan of a text, and of what models share, in a folder.
func (s search) build(ctx context.Context, dir, text string, shared map[string]string, flags ...string) error {
	file := s.model + ".pml"
	if err := errors.Join(os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600), writeIncludes(dir, shared)); err != nil {
		return err
	}
	if out, err := output(ctx, dir, "spin", append(append([]string{"-Pcc -E -xc"}, s.switches...), "-a", file)...); err != nil {
		return fmt.Errorf("spin does not accept %s: %s", file, firstLine(out, "error"))
	}
	if out, err := output(ctx, dir, s.compiler(), append(flags, "-o", "pan", "pan.c")...); err != nil {
		return fmt.Errorf("the C compiler does not accept what spin made of %s: %s", file, firstLine(out, "error"))
	}
	return nil
}

// pan makes the search by the program in a folder and returns what it prints.
func (s search) pan(ctx context.Context, dir string) (string, error) {
	limited, cancel := context.WithTimeout(ctx, s.limit)
	defer cancel()
	out, err := output(limited, dir, "./pan", s.panFlags()...)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case limited.Err() != nil:
		return "", fmt.Errorf("%w: it has not ended within %v; raise its time=, or make the model smaller", errIncomplete, s.limit)
	case err != nil && strings.Contains(err.Error(), "signal"):
		return "", fmt.Errorf("%w: %w has ended it; the machine may have too little memory", errIncomplete, err)
	case err != nil:
		return "", fmt.Errorf("%w: pan ended with %w: %s", errIncomplete, err, firstLine(out, "error"))
	}
	return out, nil
}

// writeIncludes writes what models share into a folder.
func writeIncludes(dir string, shared map[string]string) error {
	for name, text := range shared {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// brief reports whether the search takes less time than its optimization.
func (s search) brief() bool { return s.quick || s.mode == reach }

// compiler returns the C compiler of the search. tcc, if it is installed, compiles a brief search in a
// twentieth of the time that cc takes.
func (s search) compiler() string {
	if _, err := exec.LookPath("tcc"); s.brief() && err == nil {
		return "tcc"
	}
	return "cc"
}

// compileFlags returns the flags under which the search is exact: no bit state, no hash
// compaction.
func (s search) compileFlags() []string {
	flags := []string{"-O2", "-w", "-DCOLLAPSE", "-DMEMLIM=" + strconv.Itoa(s.memory)}
	if s.brief() {
		flags[0] = "-O0"
	}
	if s.mode == safety || s.mode == reach {
		flags = append(flags, "-DSAFETY")
		if s.mode == reach || s.want != holds {
			flags = append(flags, "-DBFS") // finds the shortest run, mostly among few states
		}
	}
	if s.mode == progress {
		flags = append(flags, "-DNP")
	}
	if s.mode != ltl {
		flags = append(flags, "-DNOCLAIM")
	}
	if s.noReduce {
		flags = append(flags, "-DNOREDUCE")
	}
	return flags
}

func (s search) panFlags() []string {
	flags := []string{"-m" + strconv.Itoa(s.depth)}
	if s.brief() {
		flags = append(flags, "-w18") // a hash table of 2 MB: 128 MB take most of the time to clear
	}
	switch s.mode {
	case reach:
		flags = append(flags, "-E")
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

// firstLine returns the first line that has the word, or else the first line.
func firstLine(text, word string) string {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for _, line := range lines {
		if strings.Contains(strings.ToLower(line), word) {
			return strings.TrimSpace(line)
		}
	}
	return lines[0]
}
