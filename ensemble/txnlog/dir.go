package txnlog

import (
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Dir lists the files that a server keeps on disk.
type Dir struct {
	Logs      []string // paths of the logs, the oldest first
	Snapshots []string // paths of the snapshots, the oldest first
}

// Open finds the files of a server. Its folders are a dataDir and a dataLogDir, or their
// version-2, or one folder that has both. It returns an error that matches fs.ErrNotExist
// if there is no log and no snapshot.
func Open(folders ...string) (Dir, error) {
	var d Dir
	for _, folder := range folders {
		if inner := filepath.Join(folder, "version-2"); isDir(inner) {
			folder = inner
		}
		entries, err := os.ReadDir(folder)
		if err != nil {
			return Dir{}, err
		}
		for _, e := range entries {
			path := filepath.Join(folder, e.Name())
			if _, ok := zxidOf(path); !ok || e.IsDir() {
				continue
			}
			if strings.HasPrefix(e.Name(), "log.") {
				d.Logs = append(d.Logs, path)
			} else {
				d.Snapshots = append(d.Snapshots, path)
			}
		}
	}
	if len(d.Logs)+len(d.Snapshots) == 0 {
		return Dir{}, fmt.Errorf("no log and no snapshot of ZooKeeper in %s: %w", strings.Join(folders, ", "), fs.ErrNotExist)
	}
	byZxid := func(a, b string) int {
		x, _ := zxidOf(a)
		y, _ := zxidOf(b)
		return int(min(max(x-y, -1), 1))
	}
	slices.SortFunc(d.Logs, byZxid)
	slices.SortFunc(d.Snapshots, byZxid)
	return d, nil
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// zxidOf returns the zxid in the name of a log, which is that of its first transaction,
// or of a snapshot.
func zxidOf(path string) (int64, bool) {
	kind, text, _ := strings.Cut(filepath.Base(path), ".")
	switch kind {
	case "log":
	case "snapshot":
		text = strings.TrimSuffix(strings.TrimSuffix(text, gzipSuffix), snappySuffix)
	default:
		return 0, false
	}
	zxid, err := strconv.ParseInt(text, 16, 64)
	return zxid, err == nil
}

// ZxidOf returns the zxid in the name of a log or a snapshot of a [Dir]: that of the log's first
// transaction, or the last one that the snapshot has for certain.
func ZxidOf(path string) int64 {
	zxid, _ := zxidOf(path)
	return zxid
}

// Transactions yields the transactions of all logs, in the order in which they were
// logged, which is that of their zxids unless the server has a bug (see [Compare]). It
// misses transactions that are in none of the logs any more: those that the server has
// cut from its log to return to the leader's, and those before the leader's snapshot from
// which it started anew. The error that it yields last is one of [ReadLog].
func (d Dir) Transactions() iter.Seq2[Txn, error] {
	return func(yield func(Txn, error) bool) {
		for l, err := range d.entries() {
			if !yield(l.Txn, err) {
				return
			}
		}
	}
}

func (d Dir) entries() iter.Seq2[logged, error] {
	return func(yield func(logged, error) bool) {
		for _, path := range d.Logs {
			for l, err := range logEntries(path) {
				if !yield(l, err) || err != nil {
					return
				}
			}
		}
	}
}
