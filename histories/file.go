package histories

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// ReadFile reads the history in the file at path: Jepsen's EDN when its name ends
// in .edn, JSON lines otherwise, decompressed when it ends in .zst. The error
// for a file that breaks the format is a [*FormatError].
func ReadFile(path string) (*History, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // nothing was written
	r, decode := io.Reader(f), Decode
	name, packed := strings.CutSuffix(path, ".zst")
	if packed {
		z, err := zstd.NewReader(f, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxMemory(1<<30))
		if err != nil {
			return nil, fmt.Errorf("histories: %w", err)
		}
		defer z.Close()
		r = z
	}
	if strings.HasSuffix(name, ".edn") {
		decode = DecodeEDN
	}
	h, err := decode(r)
	if err != nil {
		return nil, inFile(err, path)
	}
	return h, nil
}

// WriteFile writes h to a new file at path, in the format that [ReadFile] would read
// from a file of that name. It refuses a history that is not valid.
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
	if strings.HasSuffix(name, ".edn") {
		encode = EncodeEDN
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
