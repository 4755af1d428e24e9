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

// keeps is the number of bytes that a log keeps at its beginning, and again at its end.
const keeps = 1 << 20

// Log keeps the beginning and the end of the text written to it, a MiB each, with one
// line between them that gives the number of bytes left out. The beginning goes to the
// log's file at once, the end when the log is closed.
type Log struct {
	mu      sync.Mutex
	file    *os.File
	written int64  // number of bytes written to the log
	end     []byte // the last of them, keeps bytes or more
}

// CreateLog creates the file, or empties it, and returns its log. The log's owner must
// Close it.
func CreateLog(name string) (*Log, error) {
	file, err := os.Create(name)
	if err != nil {
		return nil, err
	}
	return &Log{file: file}, nil
}

// Name returns the path of the file.
func (l *Log) Name() string { return l.file.Name() }

// Size returns the number of bytes written to the log.
func (l *Log) Size() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.written
}

// Write implements io.Writer. It returns the error of the file; the log remembers its end
// even then.
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

// pace is the pause of drain after each read once a process has written more than keeps
// bytes: a process that writes on and on gets no processor time for text that is thrown
// away.
const pace = 5 * time.Millisecond

// drain writes the output of a process to the log until the output ends.
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

// MostOfFile is the length in bytes above which Trim shortens a log file that a process
// writes by itself.
const MostOfFile = 8 << 20

// Trim shortens a log file that is longer than MostOfFile to its beginning and its end, a
// MiB each, with one line between them that gives the number of bytes left out. The
// process may go on writing if it appends to the file; text that it writes during the
// call may be left out too. Trim reports whether it has shortened the file: the text
// behind the first MiB has moved then.
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

// leftOut is the line that stands in a log in place of the text left out.
const leftOut = "\n(%d bytes were written here that this log leaves out)\n"

// An error message shows at most so many bytes of a line, and looks for lines in so many
// bytes at the end of the log.
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
