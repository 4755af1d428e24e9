package histories

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds the decoded bytes that decompression keeps in memory: as much as zstd
// itself allows by default.
const maxWindow = 128 << 20

// ReadFile reads the history in the file at path: JSON lines of zkverify, or operations of Jepsen
// as EDN, as JSON lines or in a log, each also compressed with Zstandard or gzip. The beginning of
// the file decides the format; if it is not clear, a name that ends in .edn stands for EDN. The
// error for a file that breaks the format, or is no history, is a [*FormatError].
func ReadFile(path string) (*History, error) {
	f, err := Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	return f.History()
}

// Limits bound the size of a history that is read. 0 stands for no bound.
type Limits struct {
	Bytes  int64 // unpacked
	Events int
}

// LimitError reports which of the [Limits] a history exceeds.
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

// File is a history in a file that is read one event at a time.
type File struct {
	source
	path   string
	file   *os.File
	zstd   []*zstd.Decoder // none if the file is not compressed with Zstandard
	ctx    context.Context
	limits Limits
	as     As
	known  *Reading // the reading that was found when the file was opened before
	events int      // that Events has yielded
	again  *File    // the file as All reads it
}

// Open opens the file at path, see [ReadFile], and reads the header.
func Open(path string) (*File, error) {
	return OpenWithin(context.Background(), path, Limits{})
}

// OpenWithin is Open for a file of any size and from an untrusted source. The error of reading
// is a [*FormatError]. It wraps a [*LimitError] if the history exceeds a limit, and the cause of
// ctx if ctx has ended.
func OpenWithin(ctx context.Context, path string, limits Limits) (*File, error) {
	return OpenAs(ctx, path, limits, As{})
}

// OpenAs is OpenWithin for a file that may have no zkverify header: as adds what the file does
// not show. If it is still unclear of which kind the history is, or which field names its locks,
// the file is refused with an error that names the line in question and the option to set.
func OpenAs(ctx context.Context, path string, limits Limits, as As) (*File, error) {
	return open(&File{path: path, ctx: ctx, limits: limits, as: as})
}

func open(f *File) (_ *File, err error) {
	if f.file, err = os.Open(f.path); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			f.Close()
		}
	}()
	f.source, err = f.read(f.file)
	return f, inFile(err, f.path)
}

// read reads the beginning of a file.
func (f *File) read(file io.Reader) (source, error) {
	r, err := f.unpacked(file)
	if err != nil {
		return nil, err
	}
	format, err := formatOf(r, f.path)
	if err != nil {
		return nil, err
	}
	if format == formatOurs {
		return NewScanner(r)
	}
	return f.foreign(format, r)
}

// limited is a reader that fails once ctx has ended, or after a number of bytes.
type limited struct {
	ctx        context.Context
	r          io.Reader
	read, most int64 // 0: any number
}

// Read checks ctx before it reads, and the bound afterwards.
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

// foreign reads operations of Jepsen. Unless the file has them in the order of their index, all
// of them must be in memory before the first one becomes an event.
func (f *File) foreign(format format, r io.Reader) (source, error) {
	s, err := newForeign(format, r)
	if err != nil || s.ours {
		return s, err
	}
	if f.known == nil && f.Twice() {
		if f.known, err = f.surveyed(format); err != nil {
			return nil, err
		}
	}
	if f.known == nil || !f.known.ordered {
		err = s.inMemory(f.as)
		f.known = s.reading
		return s, err
	}
	s.as(f.known)
	return s, nil
}

// surveyed reads the file once more, to find its Reading.
func (f *File) surveyed(format format) (*Reading, error) {
	file, err := os.Open(f.path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	r, err := f.unpacked(file)
	if err != nil {
		return nil, err
	}
	s, err := newForeign(format, r)
	if err != nil {
		return nil, err
	}
	return s.survey(f.as)
}

// Reading returns the interpretation of the file; nil if it has a zkverify header.
func (f *File) Reading() *Reading {
	if s, is := f.source.(*foreign); is && !s.ours {
		return s.reading
	}
	return nil
}

// Registers reports whether the file is a history of registers, which has operations instead of
// events.
func (f *File) Registers() bool {
	r := f.Reading()
	return r != nil && r.register
}

// Operations yields the operations of a history of registers in order, the same one each time,
// filled anew. An error is the last thing it yields, with an empty operation.
func (f *File) Operations() iter.Seq2[*Operation, error] {
	return func(yield func(*Operation, error) bool) {
		n := 0
		for o, err := range f.source.(*foreign).Operations() {
			if n++; err == nil && f.limits.Events > 0 && n > f.limits.Events {
				over := &LimitError{Limits{Events: f.limits.Events}}
				o, err = &Operation{}, &FormatError{Reason: over.Error(), Err: over}
			}
			if !yield(o, inFile(err, f.path)) || err != nil {
				return
			}
		}
	}
}

// Path returns the name by which the file was opened.
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

// Line returns the line of the event that Events, or All, has yielded last. In EDN it is the
// line on which the event ends.
func (f *File) Line() int {
	if f.again != nil {
		return f.again.Line()
	}
	if line := f.foreignLine(); line > 0 {
		return line
	}
	return Line(f.events - 1)
}

// All yields the events from the first one on, as Events does. Each iteration reads the file
// anew, so the file must be one that can be read twice.
func (f *File) All() iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		again, err := open(&File{path: f.path, ctx: f.ctx, limits: f.limits, as: f.as, known: f.known})
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

// History reads the events that are left.
func (f *File) History() (*History, error) { return historyOf(f, f.Events()) }

// Progress returns the number of bytes that have been read, and the size of the file.
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
