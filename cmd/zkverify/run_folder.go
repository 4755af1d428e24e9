package main

import (
	"errors"
	"os"
	"path/filepath"
	"strconv"
	"time"

	"github.com/zkverify/zkverify/workload/folder"
)

// makeFolder makes the folder of a run, and returns its path.
func makeFolder(named string, started time.Time, target string) (string, error) {
	dir := named
	if dir == "" {
		dir = filepath.Join("runs", started.Format("20060102-150405")+"-"+target)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return "", usage("--out: %w", err)
	}
	if _, err := os.Stat(filepath.Join(dir, folder.History)); err == nil {
		return "", usage("--out: %s already holds a run: choose another --out, or remove it", dir)
	}
	probe, err := os.CreateTemp(dir, ".probe-*")
	if err != nil {
		return "", usage("--out: nothing can be written to %s, choose another folder: %w", dir, err)
	}
	return dir, errors.Join(probe.Close(), os.Remove(probe.Name()))
}

func runID(started time.Time, seed int64) string {
	return started.UTC().Format("20060102T150405") + "-" + strconv.FormatUint(uint64(seed), 36)
}
