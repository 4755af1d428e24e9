package histories

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// written writes a text to a file of this name.
func written(t *testing.T, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// files returns the paths of histories of the given number of cycles, one in each format that is
// read, by name.
func files(t *testing.T, cycles int) map[string]string {
	t.Helper()
	h := &History{Header: Header{Version: Version}}
	foreign := ""
	for i := range 2 * cycles {
		typ := []Type{Invoke, OK}[i%2]
		h.Events = append(h.Events, Event{Time: 1, Type: typ, Process: 0, Op: Acquire, Lock: "a"})
		foreign += fmt.Sprintf("{:type :%s, :f :acquire, :process 0, :time %d, :index %d}\n", typ, i, i)
	}
	all := map[string]string{"foreign": written(t, "foreign.edn", foreign), "vector": written(t, "vector.edn", "[\n"+foreign+"]")}
	for _, name := range []string{"h.jsonl", "h.jsonl.zst", "h.edn", "h.edn.zst"} {
		all[name] = filepath.Join(t.TempDir(), name)
		if err := WriteFile(all[name], h); err != nil {
			t.Fatal(err)
		}
	}
	return all
}

func TestAFileIsReadUpToItsLimits(t *testing.T) {
	for name, path := range files(t, 1000) {
		for _, c := range []struct {
			limits Limits
			refuse bool
		}{
			{Limits{}, false}, {Limits{Events: 2000, Bytes: 1 << 20}, false}, {Limits{Events: 1999}, true}, {Limits{Bytes: 1 << 10}, true}, {Limits{Bytes: 20}, true},
		} {
			n := 0
			f, err := OpenWithin(context.Background(), path, c.limits)
			if err == nil {
				for _, err = range f.Events() {
					if err != nil {
						break
					}
					n++
				}
				f.Close()
			}
			var limit *LimitError
			var format *FormatError
			if refused := errors.As(err, &limit) && errors.As(err, &format) && format.File == path; refused != c.refuse || !refused && (n != 2000 || err != nil) || c.limits.Events > 0 && n > c.limits.Events {
				t.Errorf("%s within %+v: %d events, %v", name, c.limits, n, err)
			}
		}
	}
}

// Reading checks the context with each piece of a file, even if it yields few events.
func TestReadingEndsWithTheContext(t *testing.T) {
	const cycles = 5000
	for name, path := range files(t, cycles) {
		for _, at := range []int{0, 1, cycles} {
			ctx, cancel := context.WithCancelCause(context.Background())
			stopped := errors.New("stopped")
			f, err := OpenWithin(ctx, path, Limits{})
			if err != nil {
				t.Error(name, err)
				cancel(nil)
				continue
			}
			n := 0
			if at == 0 {
				cancel(stopped)
			}
			for _, err = range f.Events() {
				if err != nil {
					break
				}
				if n++; n == at {
					cancel(stopped)
				}
			}
			f.Close()
			if more := n - at; !errors.Is(err, stopped) || more > 2000 {
				t.Errorf("%s: %d events were read after the end, at event %d; %v", name, more, at, err)
			}
			if _, err := OpenWithin(ctx, path, Limits{}); !errors.Is(err, stopped) {
				t.Errorf("%s was opened: %v", name, err)
			}
			cancel(nil)
		}
	}
}

func TestAFileIsReadAgainFromItsBeginning(t *testing.T) {
	for name, path := range files(t, 10) {
		f, err := OpenWithin(context.Background(), path, Limits{})
		if err != nil {
			t.Fatal(err)
		}
		if !f.Twice() {
			t.Errorf("%s cannot be read twice", name)
		}
		first := map[string]int{"foreign": 1}[name]
		if first == 0 {
			first = 2
		}
		for range 2 {
			var lines []int
			for _, err := range f.All() {
				if err != nil {
					t.Fatal(err)
				}
				lines = append(lines, f.Line())
			}
			if len(lines) != 20 || lines[0] != first || !slices.IsSorted(lines) || lines[19] != first+19 {
				t.Errorf("%s: lines %v", name, lines)
			}
		}
		h, err := f.History()
		if err != nil || len(h.Events) != 20 || h.LineOf(0) != first || h.LineOf(19) != first+19 {
			t.Errorf("%s: %+v, %v", name, h, err)
		}
		f.Close()
	}
}

func TestAPipeIsReadOnce(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pipe.edn")
	if err := syscall.Mkfifo(path, 0o600); err != nil {
		t.Skip(err)
	}
	wrote := make(chan error, 1)
	go func() { // ends when the pipe was read, or closed
		wrote <- os.WriteFile(path, []byte("{:type :invoke, :f :acquire, :process 0, :time 1, :index 5}\n{:type :invoke, :f :acquire, :process 1, :time 2, :index 4}\n"), 0o600)
	}()
	f, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := f.History()
	if f.Twice() || err != nil || len(h.Events) != 2 || h.Events[0].Process != 1 {
		t.Errorf("twice: %t; %+v, %v", f.Twice(), h, err)
	}
	if err := <-wrote; err != nil {
		t.Error(err)
	}
}

// A file with operations in any order of their index is read as DecodeEDN reads it.
func TestTheOrderOfAFileIsThatOfItsIndices(t *testing.T) {
	op := func(process, index int) string {
		return fmt.Sprintf("{:type :invoke, :f :acquire, :process %d, :time %d, :index %d}\n", process, process, index)
	}
	for _, text := range []string{op(0, 1) + op(1, 2) + op(2, 3), op(0, 3) + op(1, 2) + op(2, 1), op(0, 1) + op(1, 9) + op(2, 5), strings.ReplaceAll(op(0, 3), ", :index 3", "") + op(1, 2) + op(2, 1)} {
		want, err := DecodeEDN(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		got, err := ReadFile(written(t, "h.edn", text))
		if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s is read as %v, %v; want %v", text, got, err, want)
		}
	}
}
