package campaign

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
)

// Lines is a state file with a line of JSON for each result, written as soon as the result is
// known: an interrupt loses nothing. It belongs to one goroutine at a time.
type Lines struct{ file *os.File }

// OpenLines opens a state file, which it creates if need be, and passes its lines to read. It cuts
// off half a line at the end, which an interrupt has left. An error of read is
// returned with the number of the line.
func OpenLines(path string, read func(line []byte) error) (_ *Lines, err error) {
	f, err := os.OpenFile(path, os.O_CREATE|os.O_RDWR|os.O_APPEND, 0o644)
	if err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	text, err := io.ReadAll(f)
	if err != nil {
		return nil, err
	}
	text = text[:bytes.LastIndexByte(text, '\n')+1]
	n := 0
	for line := range bytes.Lines(text) {
		n++
		if err := read(line); err != nil {
			return nil, fmt.Errorf("%s: line %d: %w", path, n, err)
		}
	}
	return &Lines{f}, f.Truncate(int64(len(text)))
}

// Add writes a line.
func (l *Lines) Add(result any) error {
	text, err := json.Marshal(result)
	if err == nil {
		_, err = l.file.Write(append(text, '\n'))
	}
	return err
}

// Close closes the file.
func (l *Lines) Close() error { return l.file.Close() }
