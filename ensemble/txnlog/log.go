package txnlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"iter"
	"os"
)

var (
	// ErrNotALog is returned for a file without the header of a log or a snapshot.
	ErrNotALog = errors.New("txnlog: not a file of ZooKeeper")

	// ErrDamaged is returned for a transaction or a snapshot with a wrong checksum, or with bytes
	// that are no such record.
	ErrDamaged = errors.New("txnlog: damaged")
)

const (
	logMagic      = 0x5a4b4c47 // ZKLG
	snapshotMagic = 0x5a4b534e // ZKSN

	// largest bounds the size of a transaction in bytes: jute.maxbuffer is a megabyte unless
	// configured, and a snapshot's node is no larger.
	largest = 1 << 28
)

// ReadLog yields the transactions of one log, in order. If the log ends within a
// transaction, as the log of a running or killed server may, ReadLog ends before that
// transaction. The error that it yields last matches [ErrNotALog] or [ErrDamaged], or is
// one of the file system.
func ReadLog(path string) iter.Seq2[Txn, error] {
	return func(yield func(Txn, error) bool) {
		for l, err := range logEntries(path) {
			if !yield(l.Txn, err) {
				return
			}
		}
	}
}

// logged is a transaction, and its bytes without the digest.
type logged struct {
	Txn
	content []byte
}

// logEntries is ReadLog with the bytes.
func logEntries(path string) iter.Seq2[logged, error] {
	return func(yield func(logged, error) bool) {
		for data, err := range logBytes(path, read) {
			var l logged
			if err == nil {
				if l, err = decoded(data); err != nil {
					err = fmt.Errorf("%s: %w", path, err)
				}
			}
			if !yield(l, err) || err != nil {
				return
			}
		}
	}
}

func decoded(data []byte) (l logged, err error) {
	if l.Txn, l.content, err = decode(data); err != nil {
		err = fmt.Errorf("%w: %w", ErrDamaged, err)
	}
	return l, err
}

// logBytes yields the bytes of the transactions of one log, in memory that read returns.
func logBytes(path string, read func(io.Reader, int) ([]byte, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		f, err := os.Open(path)
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		r := bufio.NewReaderSize(f, 1<<16)
		if err := readMagic(r, logMagic); err != nil {
			if !errors.Is(err, io.EOF) { // still empty
				yield(nil, fmt.Errorf("%s: %w", path, err))
			}
			return
		}
		for {
			data, err := readEntry(r, read)
			if errors.Is(err, io.EOF) {
				return
			}
			if err != nil {
				yield(nil, fmt.Errorf("%s: %w", path, err))
				return
			}
			if !yield(data, nil) {
				return
			}
		}
	}
}

// readMagic reads the header of a file: its kind, the version of its format, and the
// number of a database, which is not used.
func readMagic(r io.Reader, magic uint32) error {
	var header [16]byte
	if _, err := io.ReadFull(r, header[:]); err != nil {
		if errors.Is(err, io.ErrUnexpectedEOF) {
			return fmt.Errorf("%w: it has less than 16 bytes", ErrNotALog)
		}
		return err
	}
	if got := binary.BigEndian.Uint32(header[:]); got != magic {
		return fmt.Errorf("%w: it begins with 0x%08x, not with 0x%08x", ErrNotALog, got, magic)
	}
	if version := binary.BigEndian.Uint32(header[4:]); version != 2 {
		return fmt.Errorf("%w: its format has version %d, not 2", ErrNotALog, version)
	}
	return nil
}

// readEntry reads the bytes of the next transaction: a checksum, their length, the bytes
// and the letter B. Zeros may follow the last one, since servers extend a log ahead of
// time. It returns io.EOF there, and within an entry.
func readEntry(r *bufio.Reader, read func(io.Reader, int) ([]byte, error)) ([]byte, error) {
	head, err := r.Peek(12)
	if err != nil {
		return nil, end(err)
	}
	sum, size := binary.BigEndian.Uint64(head), binary.BigEndian.Uint32(head[8:])
	if _, err := r.Discard(len(head)); err != nil {
		return nil, err
	}
	switch {
	case size == 0:
		return nil, io.EOF
	case size > largest:
		return nil, fmt.Errorf("%w: a transaction of %d bytes", ErrDamaged, size)
	}
	data, err := read(r, int(size)+1)
	if err != nil {
		return nil, end(err)
	}
	data, last := data[:size], data[size]
	switch {
	case last == 0:
		return nil, io.EOF // partly written, into the space of zeros
	case last != 'B':
		return nil, fmt.Errorf("%w: 0x%02x behind a transaction", ErrDamaged, last)
	case uint64(adler32.Checksum(data)) != sum:
		return nil, fmt.Errorf("%w: a transaction's checksum is wrong", ErrDamaged)
	}
	return data, nil
}

// read reads n bytes. A nonsensical length takes no memory.
func read(r io.Reader, n int) ([]byte, error) {
	if n <= 1<<16 {
		data := make([]byte, n)
		_, err := io.ReadFull(r, data)
		return data, err
	}
	data, err := io.ReadAll(io.LimitReader(r, int64(n)))
	if err == nil && len(data) < n {
		err = io.ErrUnexpectedEOF
	}
	return data, err
}

// reusing returns a function like read that returns the same memory again.
func reusing() func(io.Reader, int) ([]byte, error) {
	memory := make([]byte, 1<<16)
	return func(r io.Reader, n int) ([]byte, error) {
		if n > len(memory) {
			return read(r, n)
		}
		_, err := io.ReadFull(r, memory[:n])
		return memory[:n], err
	}
}

// end returns io.EOF for a file that ends too early.
func end(err error) error {
	if err == nil || errors.Is(err, io.ErrUnexpectedEOF) {
		return io.EOF
	}
	return err
}
