package child

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"
)

// keeps is how much of the beginning, and of the end, of what is written to a log it keeps.
const keeps = 1 << 20

// Log keeps the beginning and the end of what is written to it, a MiB each, and says in one
// line how much it has left out between them. The beginning is in its file at once, the end when
// the log is closed.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	written int64  // all that was written to it
	end     []byte // the last of it, keeps bytes or more
}

// CreateLog makes a log, and its file anew. Its owner must Close it.
func CreateLog(name string) (*Log, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &Log{file: file}, nil
}

// Name is the path of the file.
func (l *Log) Name() string { return l.file.Name() }

// Size is how much was written to the log, in bytes.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written
}

// Write is io.Writer's. The error is that of the file, which does not keep the end from being
// remembered.
func (l *Log) Write(text []byte) (n int, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if room := keeps - l.written; room > 0 {
		_, err = l.file.Write(text[:min(room, int64(len(text)))])
	}
	l.written += int64(len(text))
	l.end = append(l.end, text...)
	if len(l.end) > 2*keeps {
		l.end = slices.Delete(l.end, 0, len(l.end)-keeps)
	}
	return len(text), err
}

// LastLines returns the last n lines, indented.
func (l *Log) LastLines(n int) string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return lastLines(l.end, n)
}

// Close writes the end to the file. Nothing may be written to the log any more.
func (l *Log) Close() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	var err error
	if rest := l.written - keeps; rest > 0 {
		end := l.end[max(0, int64(len(l.end))-min(rest, keeps)):]
		if left := rest - int64(len(end)); left > 0 {
			_, err = fmt.Fprintf(l.file, leftOut, left)
		}
		if err == nil {
			_, err = l.file.Write(end)
		}
	}
	if closed := l.file.Close(); err == nil {
		err = closed
	}
	return err
}

// pace is how long what writes more than the log keeps waits after each read: it gets no
// processor for what is thrown away.
const pace = 5 * time.Millisecond

// drain writes to the log what comes from a process, until its end.
func (l *Log) drain(from io.Reader) {
	text := make([]byte, 64<<10)
	for {
		n, err := from.Read(text)
		_, _ = l.Write(text[:n]) // a full disk is seen by the history too
		if err != nil {
			return
		}
		if l.Size() > keeps {
			time.Sleep(pace)
		}
	}
}

// MostOfFile is how long a log file may be that a process writes by itself, in bytes, before Trim
// shortens it.
const MostOfFile = 8 << 20

// Trim shortens a log file that is longer than MostOfFile to its beginning and its end, a MiB each,
// and says in one line how much it has left out between them. The process may go on writing, if it
// appends to the file: what it writes at that moment may be left out too. It reports whether it
// has shortened the file: what was in it behind the first MiB is at another place then.
func Trim(name string) (shortened bool, err error) {
	file, err := os.OpenFile(name, os.O_RDWR|os.O_APPEND, 0)
	if err != nil {
		return false, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil || info.Size() <= MostOfFile {
		return false, err
	}
	text := make([]byte, keeps)
	left, before := info.Size()-2*keeps, int64(0)
	if _, err := file.ReadAt(text[:len(leftOut)+20], keeps); err != nil {
		return false, err
	}
	if n, _ := fmt.Sscanf(string(text), leftOut, &before); n == 1 { // it was shortened before
		left += before - int64(len(fmt.Sprintf(leftOut, before)))
	}
	if _, err := file.ReadAt(text, info.Size()-keeps); err != nil {
		return false, err
	}
	if err := file.Truncate(keeps); err != nil {
		return false, err
	}
	_, err = fmt.Fprintf(file, leftOut+"%s", left, text)
	return true, err
}

// leftOut stands in a log where something was left out.
const leftOut = "\n(%d bytes were written here that this log leaves out)\n"

// A message shows at most so many bytes of a line, and looks for lines in so many at the end.
const (
	mostOfLine = 1000
	mostOfLog  = 64 << 10
)

// LastLines returns the last n lines of a log file, indented.
func LastLines(log string, n int) string {
	text, err := lastBytes(log)
	if err != nil {
		return "  (" + err.Error() + ")"
	}
	return lastLines(text, n)
}

func lastBytes(log string) ([]byte, error) {
	file, err := os.Open(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return nil, err
	}
	from := max(0, info.Size()-mostOfLog)
	return io.ReadAll(io.NewSectionReader(file, from, info.Size()-from))
}

func lastLines(text []byte, n int) string {
	text = bytes.TrimSpace(text[max(0, len(text)-mostOfLog):])
	lines := strings.Split(string(text), "\n")
	if len(lines) > n {
		lines = lines[len(lines)-n:]
	}
	for i, line := range lines {
		if len(line) > mostOfLine {
			lines[i] = strings.ToValidUTF8(line[:mostOfLine], "") + "…"
		}
	}
	return "  " + strings.Join(lines, "\n  ")
}
