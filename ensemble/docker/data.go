package docker

import (
	"archive/tar"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"

	"github.com/moby/moby/client"
)

// DataDir implements ensemble.Disks: it returns a folder with a copy of the server's logs
// and snapshots, which lasts until Close or the next copy of the same server. Where
// Docker runs in a virtual machine, which has another clock, it returns an error that
// matches errors.ErrUnsupported.
func (e *Ensemble) DataDir(ctx context.Context, id int) (dir string, err error) {
	err = e.change("copy the data of", id, func(s *server) error {
		if s.published != nil {
			return errors.ErrUnsupported
		}
		if err := os.RemoveAll(s.copied); err != nil {
			return err
		}
		if s.copied, err = os.MkdirTemp("", fmt.Sprintf("zkverify-server-%d-", id)); err != nil {
			return err
		}
		dir = s.copied
		for _, from := range []string{"/data", "/datalog"} { // as in the official image
			if err := s.copyFiles(ctx, from, dir); err != nil {
				return err
			}
		}
		return nil
	})
	return dir, err
}

// copyFiles copies the logs and snapshots below a folder of the container into a folder.
func (s *server) copyFiles(ctx context.Context, from, to string) (err error) {
	r, err := s.ensemble.docker.CopyFromContainer(ctx, s.container.ID, client.CopyFromContainerOptions{SourcePath: from})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, r.Content.Close()) }()
	files := tar.NewReader(r.Content)
	for {
		h, err := files.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		name := path.Base(h.Name)
		if h.Typeflag != tar.TypeReg || !strings.HasPrefix(name, "log.") && !strings.HasPrefix(name, "snapshot.") {
			continue
		}
		f, err := os.Create(filepath.Join(to, name))
		if err != nil {
			return err
		}
		_, err = io.Copy(f, files)
		if err := errors.Join(err, f.Close()); err != nil {
			return err
		}
	}
}
