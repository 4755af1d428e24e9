package histories

import (
	"bufio"
	"encoding/json"
	"errors"
	"io"
	"iter"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// WriteFile writes h to a new file at path, in the format that [ReadFile] would read
// from a file of that name, or as [EncodePorcupine] does if the name ends in
// .porcupine.json. It refuses an invalid history.
func WriteFile(path string, h *History) (err error) {
	if err := Validate(h); err != nil {
		return inFile(err, path)
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	return EncodeAs(f, path, h.Header, each(h.Events))
}

// EncodeAs writes a valid history to w, event by event, in the format that [WriteFile] uses for a
// file of this name. For Porcupine it iterates over events twice: see [File.All]. It returns the
// first error that events yields.
func EncodeAs(w io.Writer, name string, header Header, events iter.Seq2[*Event, error]) error {
	packed := io.WriteCloser(nopCloser{w})
	if n, ok := strings.CutSuffix(name, ".zst"); ok {
		z, err := zstd.NewWriter(w, zstd.WithEncoderConcurrency(1))
		if err != nil {
			return err
		}
		name, packed = n, z
	}
	encode := encodeJSON
	switch {
	case strings.HasSuffix(name, ".edn"):
		encode = encodeEDN
	case strings.HasSuffix(name, porcupineEnding):
		encode = encodePorcupine
	}
	b := bufio.NewWriter(packed)
	err := encode(b, &header, events)
	if err == nil {
		err = b.Flush()
	}
	return errors.Join(err, packed.Close())
}

// Encode writes h as JSON lines.
func Encode(w io.Writer, h *History) error {
	return EncodeAs(w, "", h.Header, each(h.Events))
}

func encodeJSON(b *bufio.Writer, header *Header, events iter.Seq2[*Event, error]) error {
	enc := json.NewEncoder(b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(header); err != nil {
		return err
	}
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := enc.Encode(e); err != nil {
			return err
		}
	}
	return nil
}

// each yields events that are in memory.
func each(events []Event) iter.Seq2[*Event, error] {
	return func(yield func(*Event, error) bool) {
		for i := range events {
			if !yield(&events[i], nil) {
				return
			}
		}
	}
}

type nopCloser struct{ io.Writer }

func (nopCloser) Close() error { return nil }
