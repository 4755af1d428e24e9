package session

import (
	"context"
	"errors"
	"strings"
	"sync"

	"github.com/go-zookeeper/zk"
)

// maxPath bounds a path, so that a heartbeat fits into one request for every name of a
// lock.
const maxPath = 8 << 10

// CheckPath accepts absolute paths other than the root whose names ZooKeeper's servers
// accept. Go's client and the servers refuse slightly different paths, and neither checks
// the path of a read.
func CheckPath(path string) error {
	if len(path) < 2 || len(path) > maxPath || path[0] != '/' || strings.HasSuffix(path, "/") || strings.Contains(path, "//") ||
		strings.Contains(path+"/", "/./") || strings.Contains(path+"/", "/../") || strings.ContainsFunc(path, refusedRune) {
		return ErrBadPath
	}
	return nil
}

// refusedRune reports whether PathUtils.validatePath refuses a character. Java sees a
// character beyond 16 bits as two surrogates, and refuses these. Bytes that are not UTF-8
// are U+FFFD, which it refuses as well.
func refusedRune(r rune) bool {
	return r <= 0x1f || r >= 0x7f && r <= 0x9f || r >= 0xd800 && r <= 0xf8ff || r >= 0xfff0
}

// Parents creates the missing parents of a node that a call is to create. It creates them
// as containers, which the servers remove when their last child is gone (CURATOR-173). The
// servers do not remove a container that never had a child, so a call that creates no child
// takes back its containers. The zero value has created none. One goroutine at a time calls
// Create.
type Parents struct {
	pace Backoff // of creates that find all parents in place

	mu   sync.Mutex
	made []string // in order
	over bool     // Unused was called
}

// Create creates the nodes at paths and the missing nodes above them. The servers may remove them at
// any time before the children are created: callers try again. Servers that say that a parent is
// missing, and then that all of them exist, are asked less and less often.
func (p *Parents) Create(ctx context.Context, s *Session, paths ...string) error {
	made := false
	for _, path := range paths {
		one, err := p.make(ctx, s, path)
		if err != nil {
			return err
		}
		made = made || one
	}
	if made {
		return nil
	}
	return p.pause(ctx, s)
}

// make creates one node and the missing nodes above it. It returns false if the node existed.
func (p *Parents) make(ctx context.Context, s *Session, path string) (made bool, err error) {
	for {
		err := p.create(ctx, s, path)
		switch {
		case err == nil:
			return true, nil
		case errors.Is(err, zk.ErrNodeExists):
			return false, nil
		case !errors.Is(err, zk.ErrNoNode):
			return false, err
		}
		parent := path[:strings.LastIndexByte(path, '/')]
		if parent == "" {
			return false, err
		}
		made, err := p.make(ctx, s, parent)
		if err == nil && !made {
			err = p.pause(ctx, s)
		}
		if err != nil {
			return false, err
		}
	}
}

// pause waits before parents that exist are asked for again.
func (p *Parents) pause(ctx context.Context, s *Session) error {
	p.pace.Free = freeTries
	return p.pace.Wait(ctx, s)
}

// freeTries is the number of times that another client may create a parent first, or the
// servers remove one, before Create starts to pause.
const freeTries = 3

// brokenTries is the number of creates of a container in a row that have to end the
// connection, which answers another request after each, until the servers count as servers
// without containers.
const brokenTries = 3

// create creates one container, or a persistent node if the servers have no containers.
// Servers from before 3.6 close the connection of a client that asks for a container, and
// others return an error.
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
		stat, err := Retry(ctx, s, func() (*zk.Stat, error) { return exists(s, path) }) // one of the creates may have been carried out
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

// Unused takes back, in the background, the containers that were created: the call creates
// no child.
func (p *Parents) Unused(s *Session) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.over = true
	if len(p.made) > 0 {
		takeBack(s, p.made...)
		p.made = nil
	}
}

// takeBackSince takes back a container that an unanswered create may have made, or may
// still make. A node from before the create is another client's, and may be no container;
// its status does not tell.
func takeBackSince(s *Session, path string, before int64) {
	Background(s, func(ctx context.Context) error {
		stat, err := settled(ctx, s, path, func() (*zk.Stat, error) { return exists(s, path) })
		if err == nil && stat != nil && stat.Czxid > before {
			takeBack(s, path)
		}
		return err
	})
}

// takeBack deletes containers, the last first, in the background, unless they are in use.
// Clients that want to use one and find it gone create it again.
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

// exists returns the status of a node, or nil if the node does not exist.
func exists(s *Session, path string) (*zk.Stat, error) {
	found, stat, err := s.Conn.Exists(path)
	if !found {
		stat = nil
	}
	return stat, err
}
