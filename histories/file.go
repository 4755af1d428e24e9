package histories

import (
	"context"
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

// Limits bound what is read of a history. 0 stands for no bound.
type Limits struct {
	Bytes  int64 // when it is unpacked
	Events int
}

// LimitError says which of the [Limits] a history is beyond.
type LimitError struct {
	Limits // the other one is 0
}

// Error names the bound.
func (e *LimitError) Error() string {
	if e.Events > 0 {
		return fmt.Sprintf("the history has more than %d events", e.Events)
	}
	return fmt.Sprintf("the history has more than %d bytes when it is unpacked", e.Bytes)
}

// source reads a history in one of the formats, one event at a time.
type source interface {
	Header() Header
	Stream() iter.Seq2[*Event, error]
	Truncated() (note string, truncated bool)
	foreignLine() int // that of the last event, of a file without a header of ours; else 0
}

// File is a history in a file that is read one event at a time.
type File struct {
	source
	path   string
	file   *os.File
	zstd   []*zstd.Decoder // none if the file is not compressed
	ctx    context.Context
	limits Limits
	events int   // that Events has yielded
	again  *File // through which All goes
}

// Open opens the file at path, see [ReadFile], and reads the header.
func Open(path string) (*File, error) {
	return OpenWithin(context.Background(), path, Limits{})
}

// OpenWithin is Open of a file that may be of any size and come from anybody. The error of
// reading is a [*FormatError] that wraps a [*LimitError] if the history is beyond a limit, and
// one that wraps the cause of the end of ctx if that has ended.
func OpenWithin(ctx context.Context, path string, limits Limits) (_ *File, err error) {
	f := &File{path: path, ctx: ctx, limits: limits}
	if f.file, err = os.Open(path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	r, err := f.unpacked(f.file)
	if err != nil {
		return nil, err
	}
	name := strings.TrimSuffix(path, ".zst")
	switch {
	case strings.HasSuffix(name, ".edn"):
		f.source, err = f.edn(r)
	case strings.HasSuffix(name, porcupineEnding):
		err = &FormatError{Reason: "written for Porcupine: it is not the whole history"}
	default:
		f.source, err = NewScanner(r)
	}
	return f, inFile(err, path)
}

// unpacked reads what is in a file, within the limits, until f is closed.
func (f *File) unpacked(file io.Reader) (io.Reader, error) {
	if strings.HasSuffix(f.path, ".zst") {
		z, err := zstd.NewReader(file, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("histories: %w", err)
		}
		f.zstd = append(f.zstd, z)
		file = z
	}
	return &limited{ctx: f.ctx, r: file, most: f.limits.Bytes}, nil
}

// limited refuses what comes after the end of ctx, or beyond a number of bytes.
type limited struct {
	ctx        context.Context
	r          io.Reader
	read, most int64 // 0: any number
}

// Read looks at the bound and at ctx.
func (l *limited) Read(p []byte) (int, error) {
	if l.ctx.Err() != nil {
		return 0, context.Cause(l.ctx)
	}
	n, err := l.r.Read(p)
	if l.read += int64(n); l.most > 0 && l.read > l.most {
		return 0, &LimitError{Limits{Bytes: l.most}}
	}
	return n, err
}

// edn reads EDN. Operations that are not in the order of their index must be in memory before
// the first of them is an event.
func (f *File) edn(r io.Reader) (source, error) {
	s, err := newEDNScanner(r)
	if err != nil || s.ours {
		return s, err
	}
	if f.Twice() {
		switch ordered, err := f.ednOrdered(); {
		case err != nil:
			return nil, err
		case ordered:
			return s, nil
		}
	}
	return s, s.inOrder()
}

// ednOrdered reads the file once more, to see whether it must be in memory.
func (f *File) ednOrdered() (bool, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return false, err
	}
	defer file.Close()
	r, err := f.unpacked(file)
	if err != nil {
		return false, err
	}
	s, err := newEDNScanner(r)
	if err != nil {
		return false, err
	}
	return s.ordered()
}

// Path is the name by which the file was opened.
func (f *File) Path() string { return f.path }

// Twice reports whether the file can be read more than once. A pipe cannot.
func (f *File) Twice() bool {
	info, err := f.file.Stat()
	return err == nil && info.Mode().IsRegular()
}

// Close closes the file.
func (f *File) Close() {
	for _, z := range f.zstd {
		z.Close()
	}
	f.file.Close() //nolint:errcheck // nothing was written
}

// Events yields the events in order, the same event each time, filled anew. An
// error is the last thing it yields, with an empty event.
func (f *File) Events() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for e, err := range f.Stream() {
			if f.events++; err == nil && f.limits.Events > 0 && f.events > f.limits.Events {
				over := &LimitError{Limits{Events: f.limits.Events}}
				e, err = &Event{}, &FormatError{Reason: over.Error(), Err: over}
			}
			if !yield(e, inFile(err, f.path)) || err != nil {
				return
			}
		}
	}
}

// Line returns the line of the file on which the event stands that Events, or All, has yielded
// last; in EDN that on which it ends.
func (f *File) Line() int {
	if f.again != nil {
		return f.again.Line()
	}
	if line := f.foreignLine(); line > 0 {
		return line
	}
	return Line(f.events - 1)
}

// All yields the events from the first one on, as Events does, each time that it is gone
// through: it reads the file anew, which must be one that can be read twice.
func (f *File) All() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		again, err := OpenWithin(f.ctx, f.path, f.limits)
		if err != nil {
			yield(&Event{}, err)
			return
		}
		defer again.Close()
		f.again = again
		for e, err := range again.Events() {
			if !yield(e, err) {
				return
			}
		}
	}
}

// History reads all that is left.
func (f *File) History() (*History, error) { return historyOf(f, f.Events()) }

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
