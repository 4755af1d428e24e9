package ensemble

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/adler32"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// A server's transaction log begins with txnLogMagic, a version and a database ID.
// Each transaction is its Adler-32 as 8 bytes, its length as 4, itself, and the
// letter B. What was set aside for more is zero.
const (
	txnLogMagic  = "ZKLG"
	txnLogHeader = 16
	txnHeader    = 8 + 4
	txnZxid      = 8 + 4 // the session and the request's number come before it
	txnEnd       = 'B'
	maxTxn       = 64 << 20 // servers take no packet that is nearly as large
)

// txn is one transaction of a log.
type txn struct {
	zxid   int64
	record []byte
}

func epochOf(zxid int64) int64 { return zxid >> 32 }

// mendLogs makes the transaction logs below a data directory what they had been
// without ZOOKEEPER-4394, and returns how many transactions it took out. The server
// must not run.
//
// A server up to 3.8.4 that catches up with a leader fails when a transaction is
// committed at the wrong moment, catches up once more, and writes the same
// transactions behind those that it has written already. The state in its memory
// is right. But once it is started again it carries them out twice, and has nodes
// from then on that nobody else has.
func mendLogs(data string) (taken int, err error) {
	names, err := filepath.Glob(filepath.Join(data, "version-2", "log.*"))
	if err != nil {
		return 0, err
	}
	first := func(name string) int64 { // the log is named by its first transaction
		zxid, _ := strconv.ParseInt(strings.TrimPrefix(filepath.Ext(name), "."), 16, 64)
		return zxid
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Compare(first(a), first(b)) })
	var errs []error
	for _, name := range names {
		n, err := mendLog(name)
		taken += n
		errs = append(errs, err)
	}
	return taken, errors.Join(errs...)
}

func mendLog(name string) (taken int, err error) {
	log, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	defer log.Close()
	header := make([]byte, txnLogHeader)
	if _, err := io.ReadFull(log, header); err != nil || !bytes.HasPrefix(header, []byte(txnLogMagic)) {
		return 0, nil // of a server that was killed early
	}
	// Most logs are in order: they are read once, and not kept.
	var last int64
	mixed := false
	if err := transactions(log, func(t txn) { mixed, last = mixed || t.zxid <= last, t.zxid }); err != nil || !mixed {
		return 0, err
	}
	if _, err := log.Seek(txnLogHeader, io.SeekStart); err != nil {
		return 0, err
	}
	var all []txn
	if err := transactions(log, func(t txn) { all = append(all, txn{t.zxid, slices.Clone(t.record)}) }); err != nil {
		return 0, err
	}
	kept := inOrder(all)
	mended := bytes.NewBuffer(header)
	for _, t := range kept {
		mended.Write(t.record)
	}
	// Whole or not at all.
	half := filepath.Join(filepath.Dir(name), "mended-"+filepath.Base(name))
	if err := errors.Join(os.WriteFile(half, mended.Bytes(), 0o644), os.Rename(half, name)); err != nil {
		return 0, fmt.Errorf("mend %s: %w", name, err)
	}
	return len(all) - len(kept), nil
}

// transactions calls each for those of a log, up to one that was not written to its
// end. The record is valid during the call alone.
func transactions(log io.Reader, each func(txn)) error {
	r := bufio.NewReaderSize(log, 1<<16)
	record := make([]byte, txnHeader, 1<<12)
	for {
		record = record[:txnHeader]
		if _, err := io.ReadFull(r, record); err != nil {
			return atEnd(err)
		}
		size := int(binary.BigEndian.Uint32(record[8:]))
		if size < txnZxid+8 || size > maxTxn {
			return nil
		}
		record = slices.Grow(record, size+1)[:txnHeader+size+1]
		if _, err := io.ReadFull(r, record[txnHeader:]); err != nil {
			return atEnd(err)
		}
		body := record[txnHeader : txnHeader+size]
		if binary.BigEndian.Uint64(record) != uint64(adler32.Checksum(body)) || record[txnHeader+size] != txnEnd {
			return nil
		}
		each(txn{int64(binary.BigEndian.Uint64(body[txnZxid:])), record})
	}
}

// atEnd is no error where a log ends.
func atEnd(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}

// inOrder returns each transaction once, by its zxid. Those with one zxid are the
// same: a leader gives out each once in its epoch. When what was written again goes
// on in another epoch, the new leader has not had what stands between.
func inOrder(all []txn) (kept []txn) {
	var last int64 // written
	for _, t := range all {
		at, found := slices.BinarySearchFunc(kept, t.zxid, func(k txn, zxid int64) int {
			return cmp.Compare(k.zxid, zxid)
		})
		if !found {
			if epochOf(t.zxid) > epochOf(last) {
				kept = slices.DeleteFunc(kept, func(k txn) bool { return k.zxid > last })
				at = len(kept)
			}
			kept = slices.Insert(kept, at, t)
		}
		last = t.zxid
	}
	return kept
}
