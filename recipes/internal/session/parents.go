package session

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// maxPath bounds a path, so that a heartbeat fits into one request whatever the
// locks are called.
const maxPath = 8 << 10

// CheckPath accepts absolute paths other than the root, of names that ZooKeeper's
// servers accept. Go's client and the servers do not refuse quite the same, and
// none of both looks at what a read is given.
func CheckPath(path string) error {
	if len(path) < 2 || len(path) > maxPath || path[0] != '/' || strings.HasSuffix(path, "/") || strings.Contains(path, "//") ||
		strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") || strings.ContainsFunc(path, refusedRune) {
		return ErrBadPath
	}
	return nil
}

// refusedRune reports what PathUtils.validatePath refuses. Java sees a character
// beyond 16 bits as two surrogates, and refuses these. Bytes that are no UTF-8 are
// U+FFFD, which it refuses as well.
func refusedRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// CreateParents creates path and what is missing above it as container nodes,
// which the servers remove when their last child has gone (CURATOR-173). They
// may do so at any time before the child is created: callers try again.
func CreateParents(ctx context.Context, s *Session, path string) error {
	create := func() (string, error) {
		return s.Conn.CreateContainer(path, []byte{}, zk.FlagContainer, s.cfg.ACL)
	}
	for {
		_, err := Retry(ctx, s, create)
		switch {
		case err == nil, errors.Is(err, zk.ErrNodeExists):
			return nil
		case !errors.Is(err, zk.ErrNoNode):
			return err
		}
		parent := path[:strings.LastIndexByte(path, '/')]
		if parent == "" {
			return err
		}
		if err := CreateParents(ctx, s, parent); err != nil {
			return err
		}
	}
}
