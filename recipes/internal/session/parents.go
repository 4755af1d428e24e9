package session

import (
	"context"
	"errors"
	"strings"
	"sync"

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

// Parents are the nodes above what a call is to make. It makes those that are missing, as
// containers, which the servers remove when their last child has gone (CURATOR-173). They do not
// remove one that never had a child, so a call that makes no child takes back what it has made.
// The zero value has made none. One goroutine at a time calls Create.
type Parents struct {
	pace Backoff // of creates that find everything there

	mu   sync.Mutex
	made []string // in order
	over bool     // Unused was called
}

// Create creates path and what is missing above it. The servers may remove them at any time
// before the child is created: callers try again. Servers that say that a parent is missing, and
// then that it is there, are asked less and less often.
func (p *Parents) Create(ctx context.Context, s *Session, path string) error {
	for {
		err := p.create(ctx, s, path)
		switch {
		case err == nil:
			return nil
		case errors.Is(err, zk.ErrNodeExists):
			p.pace.Free = freeTries
			return p.pace.Wait(ctx, s)
		case !errors.Is(err, zk.ErrNoNode):
			return err
		}
		parent := path[:strings.LastIndexByte(path, '/')]
		if parent == "" {
			return err
		}
		if err := p.Create(ctx, s, parent); err != nil {
			return err
		}
	}
}

// freeTries is how often another client may make a parent first, or the servers remove one, before
// that is taken for strange.
const freeTries = 3

// brokenTries is after how many creates of a container in a row that end the connection, which
// has answered something else in between, the servers count as such that have no containers.
const brokenTries = 3

// create creates one container, or a persistent node if the servers have no containers: those
// from before 3.6 close the connection of a client that asks for one, and others say so.
func (p *Parents) create(ctx context.Context, s *Session, path string) error {
	before := s.lastZxid.Load()
	for broken := 0; ; {
		if s.noContainers.Load() {
			_, err := Retry(ctx, s, func() (string, error) { return s.Conn.Create(path, []byte{}, 0, s.cfg.ACL) })
			return err
		}
		_, err := Call(ctx, s, func() (string, error) {
			return s.Conn.CreateContainer(path, []byte{}, zk.FlagContainer, s.cfg.ACL)
		}, func(_ string, err error) {
			switch {
			case err == nil:
				takeBack(s, path)
			case !Undone(err):
				takeBackSince(s, path, before)
			}
		})
		switch {
		case err == nil:
			p.add(s, path)
			return nil
		case isCode(err, unimplemented):
			s.noContainers.Store(true)
			continue
		case Answered(err) && (broken == 0 || !errors.Is(err, zk.ErrNodeExists)):
			return err
		case ctx.Err() != nil:
			takeBackSince(s, path, before)
			return context.Cause(ctx)
		}
		stat, err := Retry(ctx, s, func() (*zk.Stat, error) { return exists(s, path) }) // it may have been carried out, this time or before
		switch {
		case err != nil:
			takeBackSince(s, path, before)
			return err
		case stat != nil:
			if stat.Czxid > before {
				p.add(s, path)
			}
			return nil
		}
		if broken++; broken == brokenTries {
			s.noContainers.Store(true)
		}
	}
}

func (p *Parents) add(s *Session, path string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.over {
		takeBack(s, path)
		return
	}
	p.made = append(p.made, path)
}

// Unused takes back, in the background, what was made: the call makes no child.
func (p *Parents) Unused(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if len(p.made) > 0 {
		takeBack(s, p.made...)
		p.made = nil
	}
}

// takeBackSince takes back a container that a create may have made which was not answered, and
// may still make. One from before the create is another's, and may be no container. The status does
// not tell.
func takeBackSince(s *Session, path string, before int64) {
	Background(s, func(ctx context.Context) error {
		stat, err := settled(ctx, s, path, func() (*zk.Stat, error) { return exists(s, path) })
		if err == nil && stat != nil && stat.Czxid > before {
			takeBack(s, path)
		}
		return err
	})
}

// takeBack deletes containers, the last first, in the background, unless they are used. Those who
// want to use one and do not find it any more make it again.
func takeBack(s *Session, paths ...string) {
	Background(s, func(ctx context.Context) error {
		for len(paths) > 0 {
			path := paths[len(paths)-1]
			_, err := Call(ctx, s, func() (struct{}, error) { return struct{}{}, s.Conn.Delete(path, 0) }, nil)
			if err != nil && !errors.Is(err, zk.ErrNoNode) && !errors.Is(err, zk.ErrNotEmpty) && !errors.Is(err, zk.ErrBadVersion) {
				return err
			}
			paths = paths[:len(paths)-1]
		}
		return nil
	})
}

// exists returns the status of a node, nil if it is not there.
func exists(s *Session, path string) (*zk.Stat, error) {
	found, stat, err := s.Conn.Exists(path)
	if !found {
		stat = nil
	}
	return stat, err
}
