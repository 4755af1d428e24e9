package histories

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// unpacked returns a reader of the unpacked contents of a file, within the limits. It may be
// read until f is closed.
func (f *File) unpacked(file io.Reader) (*bufio.Reader, error) {
	packed := bufio.NewReaderSize(file, 1<<16)
	var r io.Reader = packed
	magic, _ := packed.Peek(4)
	switch {
	case bytes.HasPrefix(magic, []byte{0x1f, 0x8b}):
		z, err := gzip.NewReader(packed)
		if err != nil {
			return nil, refused("gzip: %v", err)
		}
		r = z
	case bytes.Equal(magic, []byte{0x28, 0xb5, 0x2f, 0xfd}), strings.HasSuffix(f.path, ".zst"):
		z, err := zstd.NewReader(packed, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(maxWindow), zstd.WithDecoderLowmem(true))
		if err != nil {
			return nil, fmt.Errorf("histories: %w", err)
		}
		f.zstd = append(f.zstd, z)
		r = z
	}
	out := bufio.NewReaderSize(&limited{ctx: f.ctx, r: r, most: f.limits.Bytes}, 1<<16)
	if mark, _ := out.Peek(3); bytes.Equal(mark, []byte("\xef\xbb\xbf")) {
		out.Discard(3) //nolint:errcheck // it was peeked at
	}
	return out, nil
}

// FileNames returns the names of the files in which runs, and Jepsen's store, keep a history. A
// file of the last name is refused with an error that names the file to give instead.
func FileNames() []string {
	return []string{"history.jsonl", "history.jsonl.zst", "history.edn", "history.edn.gz", "history.edn.zst", "history.txt", "test.jepsen"}
}

// begins is the number of bytes at the beginning of a file that decide its format.
const begins = 1 << 12

// formatOf returns the format of a history, by its beginning.
func formatOf(r *bufio.Reader, path string) (format, error) {
	head, _ := r.Peek(begins)
	switch {
	case bytes.HasPrefix(head, []byte("JEPSEN")):
		return "", refused("a binary file of Jepsen (test.jepsen); its history is in history.edn of the same folder")
	case bytes.HasPrefix(head, []byte("\xff\xfe")) || bytes.HasPrefix(head, []byte("\xfe\xff")):
		return "", refused("the text is UTF-16; write it as UTF-8")
	case filepath.Ext(path) == ".fressian":
		return "", refused("a file in the format Fressian; the history is in history.edn of the same folder")
	case strings.HasSuffix(strings.TrimSuffix(path, ".zst"), porcupineEnding):
		return "", refused("written for Porcupine: it is not the whole history")
	}
	rest := afterBlanks(head)
	first, _, _ := bytes.Cut(rest, []byte("\n"))
	inner := []byte(nil)
	if len(rest) > 0 {
		inner = afterBlanks(rest[1:])
	}
	switch {
	case len(rest) == 0:
	case rest[0] == '{' && len(inner) > 0 && inner[0] == '"' && bytes.Contains(first, []byte(`"f"`)) && !bytes.Contains(first, []byte(`"zkverify"`)):
		return formatJSON, nil
	case rest[0] == '{' && len(inner) > 0 && inner[0] == ':':
		return formatEDN, nil
	case rest[0] == '[' && bytes.HasPrefix(inner, []byte("{\"")):
		return "", refused("one JSON array; of JSON, a file with one operation on each line is read (jq -c '.[]' makes that)")
	case (rest[0] == '[' || rest[0] == '(') && bytes.ContainsAny(inner[:min(1, len(inner))], "{#"):
		return formatEDN, nil
	case bytes.HasPrefix(rest, []byte(jepsenTag)):
		return formatEDN, nil
	case isLog(head):
		return formatLog, nil
	}
	if strings.HasSuffix(strings.TrimSuffix(strings.TrimSuffix(path, ".zst"), ".gz"), ".edn") {
		return formatEDN, nil
	}
	return formatOurs, nil
}

// afterBlanks returns the rest of b after blanks and comments of EDN.
func afterBlanks(b []byte) []byte {
	for {
		b = bytes.TrimLeft(b, " \t\r\n,")
		if len(b) == 0 || b[0] != ';' {
			return b
		}
		_, b, _ = bytes.Cut(b, []byte("\n"))
	}
}

// isLog reports whether one of the first lines is an operation in a log.
func isLog(head []byte) bool {
	for line := range bytes.Lines(head) {
		if logged.Match(bytes.TrimRight(line, "\r\n")) {
			return true
		}
	}
	return false
}
