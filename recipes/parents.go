package recipes

import (
	"context"
	"errors"
	"strings"

	"github.com/go-zookeeper/zk"
)

// checkPath accepts absolute paths other than the root.
func checkPath(path string) error {
	if len(path) < 2 || path[0] != '/' || strings.HasSuffix(path, "/") || strings.Contains(path, "//") ||
		strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") || strings.ContainsRune(path, 0) {
		return ErrBadPath
	}
	return nil
}

// createParents creates path and what is missing above it as container nodes,
// which the servers remove when their last child has gone (CURATOR-173). They
// may do so at any time before the child is created: callers try again.
func createParents(ctx context.Context, s *session, path string) error {
	create := func() (string, error) {
		return s.conn.CreateContainer(path, []byte{}, zk.FlagContainer, s.client.cfg.acl)
	}
	for {
		_, err := retry(ctx, s, create)
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
		if err := createParents(ctx, s, parent); err != nil {
			return err
		}
	}
}
