package child_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/child"
)

// written makes a log, writes pieces to it, and returns its last two lines and the content of
// its file.
func written(t *testing.T, pieces ...[]byte) (last string, file []byte) {
	t.Helper()
	log, err := child.CreateLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		if n, err := log.Write(p); n != len(p) || err != nil {
			t.Fatal(n, err)
		}
	}
	last = log.LastLines(2)
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if file, err = os.ReadFile(log.Name()); err != nil {
		t.Fatal(err)
	}
	return last, file
}

func TestALogKeepsTheBeginningAndTheEnd(t *testing.T) {
	const mib = 1 << 20
	for _, size := range []int{0, 1, 100, mib - 1, mib, mib + 1, 2 * mib, 2*mib + 1, 5*mib + 17} {
		for _, piece := range []int{1000, mib, 3 * mib} {
			text := bytes.Repeat([]byte("0123456789\n"), size/11+1)[:size]
			var pieces [][]byte
			for rest := text; len(rest) > 0; {
				n := min(piece, len(rest))
				pieces, rest = append(pieces, rest[:n]), rest[n:]
			}
			_, file := written(t, pieces...)
			want := string(text)
			if size > 2*mib {
				want = fmt.Sprintf("%s\n(%d bytes were written here that this log leaves out)\n%s", text[:mib], size-2*mib, text[size-mib:])
			}
			if string(file) != want {
				t.Errorf("%d bytes in pieces of %d: the file has %d bytes, want %d", size, piece, len(file), len(want))
			}
		}
	}
}

func TestALogFileThatAProcessWritesIsShortened(t *testing.T) {
	const mib = 1 << 20
	name := filepath.Join(t.TempDir(), "log")
	file, err := os.OpenFile(name, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600) // in the mode in which a process opens it
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	write := func(c byte, n int) {
		if _, err := file.Write(bytes.Repeat([]byte{c}, n)); err != nil {
			t.Fatal(err)
		}
	}
	trim := func(want bool) {
		t.Helper()
		if shortened, err := child.Trim(name); err != nil || shortened != want {
			t.Fatal(shortened, err)
		}
	}
	write('a', mib)
	write('b', child.MostOfFile-mib)
	trim(false)
	write('c', mib)
	trim(true)
	trim(false)
	write('d', child.MostOfFile) // after the end that was kept
	trim(true)
	got, err := os.ReadFile(name)
	want := fmt.Sprintf("%s\n(%d bytes were written here that this log leaves out)\n%s", bytes.Repeat([]byte("a"), mib), 2*child.MostOfFile-mib, bytes.Repeat([]byte("d"), mib))
	if err != nil || string(got) != want {
		t.Errorf("%v, %d bytes, want %d: %q", err, len(got), len(want), got[mib:mib+80])
	}
}

func TestALogTakesLittleMemoryWhateverIsWritten(t *testing.T) {
	piece := bytes.Repeat([]byte("noise\n"), 100_000)
	log, err := child.CreateLog(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	for range 100 { // 60 MB
		if _, err := log.Write(piece); err != nil {
			t.Fatal(err)
		}
	}
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	if m.HeapAlloc > 20<<20 {
		t.Errorf("%d MB are in use after 60 MB were written", m.HeapAlloc>>20)
	}
}

func TestTheLastLinesAreThoseOfALogThatIsOpen(t *testing.T) {
	noise := bytes.Repeat([]byte("noise\n"), 1_000_000)
	if last, _ := written(t, noise, []byte("out of memory\n"), []byte("sorry\n")); last != "  out of memory\n  sorry" {
		t.Errorf("the last lines are %q", last)
	}
	if last, _ := written(t, bytes.Repeat([]byte("x"), 5_000_000), []byte("\nsorry\n")); len(last) > 1100 || !strings.HasSuffix(last, "…\n  sorry") {
		t.Errorf("of an endless line %d bytes are shown", len(last))
	}
}

func TestTheLastLinesOfAHugeFileTakeNoMore(t *testing.T) {
	file := filepath.Join(t.TempDir(), "log")
	f, err := os.Create(file)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if err := f.Truncate(1 << 40); err != nil { // a file with a hole: it could not be read as a whole
		t.Skip(err)
	}
	if _, err := f.WriteAt([]byte("\nsorry\n"), 1<<40); err != nil {
		t.Skip(err)
	}
	if last := child.LastLines(file, 1); last != "  sorry" {
		t.Errorf("the last line is %q", last)
	}
}
