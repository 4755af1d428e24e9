package folder

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
)

// writeService writes what the servers of a run did, if that is known.
func writeService(dir string, started time.Time, l *service.Log) error {
	if l == nil {
		return nil
	}
	l.History = started
	return WriteFile(filepath.Join(dir, service.FileName), l.Write)
}

// Service returns what the servers did in the run of a history, as the file beside it says.
// It is nil if there is none, or if the one that is there is of another history.
func Service(history string, header histories.Header) (*service.Log, error) {
	l, err := service.ReadFile(filepath.Join(filepath.Dir(history), service.FileName))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		return nil, err
	case !l.History.Equal(header.Started):
		return nil, nil
	}
	return l, nil
}

// KeepService writes what the servers did in the run of a history beside it, unless it is there.
// The error is of the disk, or says that the file is there for another history.
func KeepService(history string, header histories.Header, l *service.Log) error {
	name := filepath.Join(filepath.Dir(history), service.FileName)
	switch there, err := Service(history, header); {
	case there != nil || err != nil:
		return err
	case fileExists(name):
		return fmt.Errorf("%s is of another history", name)
	}
	return WriteFile(name, l.Write)
}

func fileExists(name string) bool {
	_, err := os.Lstat(name)
	return err == nil
}

// withService adds to options what the servers did, if that is known.
func withService(file *histories.File, options []checker.Option) ([]checker.Option, error) {
	l, err := Service(file.Path(), file.Header())
	if l == nil || err != nil {
		return options, err
	}
	return append(options[:len(options):len(options)], checker.WithService(l)), nil
}
