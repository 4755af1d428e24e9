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

// writeService writes the log of the servers of a run, if there is one.
func writeService(dir string, started time.Time, l *service.Log) error {
	if l == nil {
		return nil
	}
	l.History = started
	return WriteFile(filepath.Join(dir, service.FileName), l.Write)
}

// Service returns the log of the servers in the run of a history, from the file beside it. It
// is nil if there is none, or if the file there belongs to another history.
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

// KeepService writes the log of the servers in the run of a history beside it, unless it is
// there. The error comes from the disk, or says that the file there belongs to another history.
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

// withService adds the log of the servers to options, if there is one.
func withService(file *histories.File, options []checker.Option) ([]checker.Option, error) {
	l, err := Service(file.Path(), file.Header())
	if l == nil || err != nil {
		return options, err
	}
	return append(options[:len(options):len(options)], checker.WithService(l)), nil
}
