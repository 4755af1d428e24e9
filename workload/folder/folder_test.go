package folder_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkverify/zkverify/workload/folder"
)

func TestAFileIsWrittenWholeOrNotAtAll(t *testing.T) {
	file := filepath.Join(t.TempDir(), "verdict.json")
	write := func(text string, err error) error {
		return folder.WriteFile(file, func(w io.Writer) error {
			_, writeErr := io.WriteString(w, text)
			return errors.Join(writeErr, err)
		})
	}
	full := errors.New("disk full")
	if err := write("half", full); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the writer", err)
	}
	if _, err := os.Stat(file); !errors.Is(err, os.ErrNotExist) {
		t.Error("half a file is there")
	}
	if err := write("whole", nil); err != nil {
		t.Error(err)
	}
	if err := write("another half", full); !errors.Is(err, full) {
		t.Errorf("error %v, want that of the writer", err)
	}
	if text, _ := os.ReadFile(file); string(text) != "whole" {
		t.Errorf("the file has %q; want what was there before", text)
	}
	if all, _ := os.ReadDir(filepath.Dir(file)); len(all) != 1 {
		t.Errorf("%d files are left", len(all))
	}
}

// A link may lie in a folder from a stranger, and lead anywhere.
func TestAFileIsNotWrittenThroughALink(t *testing.T) {
	dir := t.TempDir()
	victim, link := filepath.Join(dir, "victim"), filepath.Join(dir, "history.small.jsonl")
	write := func(path string) error {
		return folder.WriteFile(path, func(w io.Writer) error {
			_, err := io.WriteString(w, "forged")
			return err
		})
	}
	for _, target := range []string{victim, filepath.Join(dir, "none"), os.DevNull, dir} {
		if err := errors.Join(os.WriteFile(victim, []byte("mine"), 0o600), os.Symlink(target, link)); err != nil {
			t.Fatal(err)
		}
		if err := write(link); err == nil {
			t.Errorf("a link to %s is written to", target)
		}
		if text, err := os.ReadFile(victim); err != nil || string(text) != "mine" {
			t.Errorf("the file has %q, %v", text, err)
		}
		if now, err := os.Readlink(link); err != nil || now != target {
			t.Errorf("the link leads to %q, %v", now, err)
		}
		if err := os.Remove(link); err != nil {
			t.Fatal(err)
		}
	}
	if err := write(dir); err == nil {
		t.Error("a folder is written to")
	}
	if err := write(os.DevNull); err != nil {
		t.Errorf("a device: %v", err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Fatalf("%s is a file now", os.DevNull)
	}
}
