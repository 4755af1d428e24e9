package histories

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what decompression keeps of what it has read: as much as zstd
// itself allows without being asked for more.
const maxWindow = 128 << 20

// ReadFile reads the history in the file at path: Jepsen's EDN when its name ends
// in .edn, JSON lines otherwise, decompressed when it ends in .zst. The error
// for a file that breaks the format is a [*FormatError].
func ReadFile(path string) (*History, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.History()
}

// File is a history in a file that is read one event at a time.
type File struct {
	header  Header
	scanner *Scanner
	whole   *History // of a format that is read as a whole
	path    string
	file    *os.File
	zstd    *zstd.Decoder // nil if the file is not compressed
}

// Open opens the file at path, see [ReadFile], and reads the header.
func Open(path string) (_ *File, err error) {
	f := &File{path: path}
	if f.file, err = os.Open(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	r := io.Reader(f.file)
	name, packed := strings.CutSuffix(path, ".zst")
	if packed {
		if f.zstd, err = zstd.NewReader(f.file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true)); err != nil {
			return nil, fmt.Errorf("histories: %w", err)
		}
		r = f.zstd
	}
	switch {
	case strings.HasSuffix(name, ".edn"):
		if f.whole, err = DecodeEDN(r); err != nil {
			return nil, inFile(err, path)
		}
		f.header = f.whole.Header
		return f, nil
	case strings.HasSuffix(name, porcupineEnding):
		return nil, &FormatError{File: path, Reason: "written for Porcupine: it is not the whole history"}
	}
	if f.scanner, err = NewScanner(r); err != nil {
		return nil, inFile(err, path)
	}
	f.header = f.scanner.Header()
	return f, nil
}

// Path is the name by which the file was opened.
func (f *File) Path() string { return f.path }

// Close closes the file.
func (f *File) Close() {
	if f.zstd != nil {
		f.zstd.Close()
	}
	f.file.Close() //nolint:errcheck // nothing was written
}

// Header returns the history's header.
func (f *File) Header() Header { return f.header }

// Events yields the events in order, the same event each time, filled anew. An
// error is the last thing it yields, with an empty event.
func (f *File) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		if f.whole != nil {
			for i := range f.whole.Events {
				if !yield(&f.whole.Events[i], nil) {
					return
				}
			}
			return
		}
		for e, err := range f.scanner.Stream() {
			if !yield(e, inFile(err, f.path)) {
				return
			}
		}
	}
}

// History reads all that is left.
func (f *File) History() (*History, error) {
	if f.whole != nil {
		return f.whole, nil
	}
	h, err := f.scanner.History()
	return h, inFile(err, f.path)
}

// Truncated reports, once Events has come to its end, whether the file was cut
// off, and where.
func (f *File) Truncated() (note string, truncated bool) {
	if f.whole != nil {
		return f.whole.Note, f.whole.Truncated
	}
	return f.scanner.Truncated()
}

// Progress returns how many bytes of the file have been read, and how many there
// are.
func (f *File) Progress() (read, size int64) {
	info, err := f.file.Stat()
	if err != nil {
		return 0, 0
	}
	read, err = f.file.Seek(0, io.SeekCurrent)
	if err != nil {
		return 0, info.Size()
	}
	return read, info.Size()
}

// WriteFile writes h to a new file at path, in the format that [ReadFile] would read
// from a file of that name, or as [EncodePorcupine] does when it ends in
// .porcupine.json. It refuses a history that is not valid.
func WriteFile(path string, h *History) (err error) {
	if err := Validate(h); err != nil {
		return inFile(err, path)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	w, name := io.WriteCloser(nopCloser{f}), path
	if n, ok := strings.CutSuffix(path, ".zst"); ok {
		name = n
		if w, err = zstd.NewWriter(f, zstd.WithEncoderConcurrency(1)); err != nil {
			return err
		}
	}
	encode := Encode
	switch {
	case strings.HasSuffix(name, ".edn"):
		encode = EncodeEDN
	case strings.HasSuffix(name, porcupineEnding):
		encode = EncodePorcupine
	}
	return errors.Join(encode(w, h), w.Close())
}

// Encode writes h as JSON lines.
func Encode(w io.Writer, h *History) error {
	b := bufio.NewWriter(w)
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(h.Header); err != nil {
		return err
	}
	for i := range h.Events {
		if err := enc.Encode(&h.Events[i]); err != nil {
			return err
		}
	}
	return b.Flush()
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
