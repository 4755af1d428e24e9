package main

import (
	"bytes"
	"os"
	"strconv"
)

// residentMemory returns the memory that the process has now, in bytes, or 0 if it is not known.
func residentMemory() int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text) // size, resident, …, in pages
	if len(fields) < 2 {
		return 0
	}
	pages, err := strconv.ParseInt(string(fields[1]), 10, 64)
	if err != nil {
		return 0
	}
	return pages * int64(os.Getpagesize())
}
