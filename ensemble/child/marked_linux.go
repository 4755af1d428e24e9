package child

import (
	"bytes"
	"os"
	"path/filepath"
	"strconv"
	"time"
)

// killWithin bounds how long killMarked looks again: a process may start others before it
// is killed.
const killWithin = time.Second

// killMarked kills all processes with a mark in their environment, and returns those that
// it could not end.
func killMarked(mark string) (left []int) {
	for until := time.Now().Add(killWithin); ; time.Sleep(time.Millisecond) {
		left = left[:0]
		for _, pid := range processes() {
			if pid != os.Getpid() && marked(pid, mark) {
				left = append(left, pid)
				kill(pid, mark)
			}
		}
		if len(left) == 0 || time.Now().After(until) {
			return left
		}
	}
}

// kill kills a process if it has the mark. Between the look and the kill its number
// cannot pass to another process: the handle belongs to the process, not to the number.
func kill(pid int, mark string) {
	p, err := os.FindProcess(pid)
	if err != nil {
		return
	}
	defer p.Release()
	if marked(pid, mark) {
		_ = p.Kill()
	}
}

// marked reports whether a process has the mark. A process that has ended has none, even
// before its parent has waited for it.
func marked(pid int, mark string) bool {
	environ, err := os.ReadFile(filepath.Join("/proc", strconv.Itoa(pid), "environ"))
	return err == nil && bytes.Contains(environ, []byte(markName+"="+mark+"\x00"))
}

// processes returns the numbers of all processes.
func processes() (all []int) {
	dir, err := os.Open("/proc")
	if err != nil {
		return nil
	}
	defer dir.Close()
	names, _ := dir.Readdirnames(-1)
	for _, name := range names {
		if pid, err := strconv.Atoi(name); err == nil {
			all = append(all, pid)
		}
	}
	return all
}
