package txnlog_test

import (
	"bytes"
	"encoding/binary"
	"errors"
	"hash/adler32"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

// logOf returns a log of deletes with the zxids 1, 2 and so on, as a server writes one,
// with zeros behind the last.
func logOf(n int) (log []byte, ends []int) {
	log = []byte{0x5a, 0x4b, 0x4c, 0x47, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	for i := range n {
		var x []byte
		x = binary.BigEndian.AppendUint64(x, 0x1234) // session
		x = binary.BigEndian.AppendUint32(x, uint32(i))
		x = binary.BigEndian.AppendUint64(x, uint64(i+1))
		x = binary.BigEndian.AppendUint64(x, 1_700_000_000_000)
		x = binary.BigEndian.AppendUint32(x, uint32(wire.Delete))
		x = binary.BigEndian.AppendUint32(x, 2)
		x = append(x, "/a"...)
		log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(x)))
		log = binary.BigEndian.AppendUint32(log, uint32(len(x)))
		log = append(append(log, x...), 'B')
		ends = append(ends, len(log))
	}
	return append(log, make([]byte, 100)...), ends
}

func read(t testing.TB, content []byte) (n int, err error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log.1")
	must(t, os.WriteFile(path, content, 0o600))
	for x, err := range txnlog.ReadLog(path) {
		if err != nil {
			return n, err
		}
		if n++; x.Zxid != int64(n) || x.Op != wire.Delete || x.Session != 0x1234 || x.Changes[0].Path != "/a" {
			t.Fatalf("%+v", x)
		}
	}
	return n, nil
}

// A server may be killed while it writes: the complete transactions are read.
func TestALogIsReadUpToItsLastWholeTransaction(t *testing.T) {
	log, ends := logOf(3)
	for size := range len(log) {
		want := 0
		for _, end := range ends {
			if size >= end {
				want++
			}
		}
		cut, zeros := log[:size], append(bytes.Clone(log[:size]), make([]byte, 1000)...)
		if n, err := read(t, cut); n != want || err != nil && (size >= 16 || size == 0) {
			t.Errorf("of %d bytes %d transactions are read, %v; want %d", size, n, err, want)
		}
		if size < 16 {
			continue
		}
		// A number that is cut may read as a smaller one: then the checksum is wrong.
		if n, err := read(t, zeros); n != want || err != nil && !errors.Is(err, txnlog.ErrDamaged) {
			t.Errorf("of %d bytes, and zeros, %d transactions are read, %v; want %d", size, n, err, want)
		}
	}
}

func TestADamagedLogIsSaidToBeOne(t *testing.T) {
	log, ends := logOf(3)
	for at := 16; at < ends[2]; at++ {
		damaged := bytes.Clone(log)
		damaged[at] ^= 0x40
		n, err := read(t, damaged)
		// A nonsensical length may end beyond the file, as if the server was killed.
		if n >= 3 || err != nil && !errors.Is(err, txnlog.ErrDamaged) {
			t.Errorf("with byte %d changed: %d transactions, %v", at, n, err)
		}
	}
	for name, content := range map[string][]byte{"text": []byte("this is no log of transactions"), "a snapshot": append([]byte("ZKSN"), log[4:]...), "short": []byte("ZKLG")} {
		if n, err := read(t, content); n != 0 || !errors.Is(err, txnlog.ErrNotALog) {
			t.Errorf("%s: %d transactions, %v", name, n, err)
		}
	}
	if n, err := read(t, nil); n != 0 || err != nil {
		t.Errorf("an empty log, as of a server that was killed before it wrote: %d, %v", n, err)
	}
}

func FuzzReadLog(f *testing.F) {
	log, _ := logOf(2)
	f.Add(log)
	path := filepath.Join(f.TempDir(), "log.1")
	f.Fuzz(func(t *testing.T, content []byte) {
		must(t, os.WriteFile(path, content, 0o600))
		for range txnlog.ReadLog(path) {
		}
	})
}

func FuzzReadSnapshot(f *testing.F) {
	f.Add([]byte{0x5a, 0x4b, 0x53, 0x4e, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, '/'})
	path := filepath.Join(f.TempDir(), "snapshot.1")
	f.Fuzz(func(t *testing.T, content []byte) {
		must(t, os.WriteFile(path, content, 0o600))
		if s, err := txnlog.ReadSnapshot(path); err == nil && s == nil {
			t.Error("neither a snapshot nor an error")
		}
	})
}
