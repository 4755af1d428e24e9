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
