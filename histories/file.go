package histories

import (
	"context"
	"fmt"
	"io"
	"iter"
	"os"

	"github.com/klauspost/compress/zstd"
)

// maxWindow bounds what decompression keeps of what it has read: as much as zstd
// itself allows without being asked for more.
const maxWindow = 128 << 20

// ReadFile reads the history in the file at path: JSON lines, or operations of Jepsen's as EDN,
// as JSON lines or in a log, also compressed with Zstandard or gzip. Its beginning shows which it
// is; if that does not, a name that ends in .edn says EDN. The error
// for a file that breaks the format, or is no history, is a [*FormatError].
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
	zstd   []*zstd.Decoder // none if the file is not compressed by it
	ctx    context.Context
	limits Limits
	as     As
	known  *Reading // what the file was taken for when it was opened before
	events int      // that Events has yielded
	again  *File    // through which All goes
}

// Open opens the file at path, see [ReadFile], and reads the header.
func Open(path string) (*File, error) {
	return OpenWithin(context.Background(), path, Limits{})
}

// OpenWithin is Open of a file that may be of any size and come from anybody. The error of
// reading is a [*FormatError] that wraps a [*LimitError] if the history is beyond a limit, and
// one that wraps the cause of the end of ctx if that has ended.
func OpenWithin(ctx context.Context, path string, limits Limits) (*File, error) {
	return OpenAs(ctx, path, limits, As{})
}

// OpenAs is OpenWithin of a file that may have no header of zkverify: as says what it does not
// show. A file of which that leaves open what it is, or where its locks have their names, is
// refused with the line that is not understood and what to say of it.
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

// foreign reads operations of Jepsen's. Unless they stand in the order of their index they must
// be in memory before the first of them is an event.
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

// surveyed reads the file once more, to see what it is.
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

// Reading returns what the file was taken for; nil if it has a header of zkverify.
func (f *File) Reading() *Reading {
	if s, is := f.source.(*foreign); is && !s.ours {
		return s.reading
	}
	return nil
}

// Registers reports whether it is a history of registers, which has operations instead of
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
