package folder

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode"
)

// The names and contents of these folders come from others. A name must stand for a file or
// folder directly below a given folder, and a folder for the files in it; links are not
// followed.

// Named returns an error unless a name from outside can be that of a file or folder directly
// below another folder: one element of a path, of printable characters.
func Named(name string) error {
	switch {
	case name == "" || name == "." || name == ".." || strings.ContainsAny(name, `/\`):
		return fmt.Errorf("%q is no folder in it", name)
	case strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsPrint(r) }):
		return fmt.Errorf("%q has characters that cannot be printed", name)
	}
	return nil
}

// ReadNamed reads a regular file of at most so many bytes in a folder from outside.
func ReadNamed(dir, name string, most int64) ([]byte, error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, err
	}
	defer root.Close()
	f, err := openRegular(root, name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s has more than %d bytes", filepath.Join(dir, name), most)
	}
	return text, err
}

// openRegular opens a regular file. It refuses a link, which may lead anywhere, and a pipe,
// which may never end.
func openRegular(root *os.Root, name string) (*os.File, error) {
	info, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is no regular file (%v)", filepath.Join(root.Name(), name), info.Mode().Type())
	}
	return root.Open(name)
}

// CheckTree returns an error unless a path below a root is a folder that contains only files
// and folders. The error satisfies fs.ErrNotExist if nothing is there.
func CheckTree(from *os.Root, name string) error {
	return eachOf(from, name, func(string, fs.DirEntry) error { return nil })
}

// CopyTree copies a folder that CheckTree accepts to the same path below another root, where
// nothing exists yet. It stops when ctx ends.
func CopyTree(ctx context.Context, from, to *os.Root, name string) error {
	if parent := path.Dir(name); parent != "." {
		if err := to.MkdirAll(parent, 0o755); err != nil {
			return err
		}
	}
	return eachOf(from, name, func(at string, e fs.DirEntry) (err error) {
		if e.IsDir() {
			return to.Mkdir(at, 0o755)
		}
		in, err := openRegular(from, at)
		if err != nil {
			return err
		}
		defer in.Close()
		out, err := to.OpenFile(at, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o644)
		if err != nil {
			return err
		}
		_, err = io.Copy(out, until{ctx, in})
		return errors.Join(err, out.Close())
	})
}

// until reads from r until ctx ends.
type until struct {
	ctx context.Context
	r   io.Reader
}

func (u until) Read(p []byte) (int, error) {
	if u.ctx.Err() != nil {
		return 0, context.Cause(u.ctx)
	}
	return u.r.Read(p)
}

// eachOf walks through a folder, parents first.
func eachOf(from *os.Root, name string, do func(string, fs.DirEntry) error) error {
	info, err := from.Lstat(name)
	if err != nil {
		return err
	}
	if !info.IsDir() {
		return fmt.Errorf("%s is no folder (%v)", filepath.Join(from.Name(), name), info.Mode().Type())
	}
	return fs.WalkDir(from.FS(), name, func(at string, e fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if !e.IsDir() && !e.Type().IsRegular() {
			return fmt.Errorf("%s is neither a file nor a folder (%v)", filepath.Join(from.Name(), at), e.Type())
		}
		return do(at, e)
	})
}

// Staged calls fill with a new folder beside place, and then moves the contents of that folder
// to place, the file or folder called last at the end. If a step fails, place is as it was;
// existing files are never replaced.
func Staged(place, last string, fill func(dir string) error) (err error) {
	place = filepath.Clean(place)
	if err := os.MkdirAll(filepath.Dir(place), 0o755); err != nil {
		return err
	}
	dir, err := os.MkdirTemp(filepath.Dir(place), "."+filepath.Base(place)+"-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	if err := errors.Join(os.Chmod(dir, 0o755), fill(dir)); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	var names []string
	for _, e := range entries {
		if _, err := os.Lstat(filepath.Join(place, e.Name())); err == nil {
			return fmt.Errorf("%s is there already: choose another folder, or remove it", filepath.Join(place, e.Name()))
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		if e.Name() != last {
			names = append(names, e.Name())
		}
	}
	if err := os.MkdirAll(place, 0o755); err != nil {
		return err
	}
	var moved []string
	for _, name := range append(slices.Clone(names), last) {
		if err := os.Rename(filepath.Join(dir, name), filepath.Join(place, name)); err != nil {
			for _, back := range moved {
				err = errors.Join(err, os.Rename(filepath.Join(place, back), filepath.Join(dir, back)))
			}
			return err
		}
		moved = append(moved, name)
	}
	return nil
}
