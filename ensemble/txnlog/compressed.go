package txnlog

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/klauspost/compress/snappy"
)

// The ends of the names of compressed snapshots.
const (
	gzipSuffix   = ".gz"
	snappySuffix = ".snappy"
)

// decompress returns the contents of a snapshot.
func decompress(path string, f io.Reader) (io.Reader, error) {
	var plain io.Reader
	var err error
	switch {
	case strings.HasSuffix(path, gzipSuffix):
		plain, err = gzip.NewReader(bufio.NewReader(f))
	case strings.HasSuffix(path, snappySuffix):
		plain, err = newSnappy(f)
	default:
		return f, nil
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", ErrNotALog, err)
	}
	return plain, nil
}

// snappyMagic begins a stream of Java's SnappyOutputStream. Two numbers follow, its version and
// the oldest version that reads it, and then blocks of Snappy, each behind its length.
var snappyMagic = []byte("\x82SNAPPY\x00")

// unsnappy reads such a stream.
type unsnappy struct {
	from  *bufio.Reader
	block []byte // what is left of it
}

func newSnappy(f io.Reader) (*unsnappy, error) {
	r := &unsnappy{from: bufio.NewReaderSize(f, 1<<16)}
	head := make([]byte, len(snappyMagic)+8)
	if _, err := io.ReadFull(r.from, head); err != nil {
		return nil, err
	}
	if !bytes.HasPrefix(head, snappyMagic) {
		return nil, errors.New("it is no stream of Snappy")
	}
	return r, nil
}

// Read implements io.Reader.
func (r *unsnappy) Read(p []byte) (int, error) {
	for len(r.block) == 0 {
		var head [4]byte
		if _, err := io.ReadFull(r.from, head[:]); err != nil {
			return 0, err
		}
		size := binary.BigEndian.Uint32(head[:])
		if size > largest {
			return 0, fmt.Errorf("a block of %d bytes", size)
		}
		packed, err := read(r.from, int(size))
		if err != nil {
			return 0, err
		}
		if n, err := snappy.DecodedLen(packed); err != nil || n > largest {
			return 0, fmt.Errorf("a block of %d bytes, or none of Snappy", n)
		}
		if r.block, err = snappy.Decode(nil, packed); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.block)
	r.block = r.block[n:]
	return n, nil
}
