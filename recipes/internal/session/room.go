package session

import (
	"fmt"
	"strings"
)

// Room holds the bytes that nodes of a session take in the transaction that ends the
// session, by the guid in their names. That transaction has the paths of all nodes of its
// session. Servers write it however long it is, but read no transaction of more than twice
// their jute.maxbuffer: after such a transaction no server starts any more
// (ZOOKEEPER-4306).
//
// A session counts a node from before the request that may create it until the node is
// known to be gone, or never to have been created. In doubt it counts too much.
type Room map[string]int

// Add adds a node whose path has this length.
func (r Room) Add(guid string, path int) { r[guid] += inRoom(path) }

func inRoom(path int) int { return 4 + path }

// ownGUID returns the guid in the name of a node of a session. A protected name contains a
// guid, and the name of a member of a double barrier is one.
func ownGUID(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	if guid := GUIDOf(name); guid != "" {
		return guid
	}
	return name
}

// Making makes a request that creates nodes of the session and returns their paths, and
// tracks the nodes. room is the room that they take. It returns ErrTooLarge, and makes no
// request, when the session has no room for them. A request that is repeated for the same
// guids takes no more room.
func (s *Session) Making(room Room, request func() ([]string, error)) ([]string, error) {
	if err := s.reserve(room); err != nil {
		return nil, err
	}
	paths, err := request()
	switch {
	case err == nil:
		s.Track(paths...)
	case Undone(err):
		for guid := range room {
			s.vacate(guid)
		}
	}
	return paths, err
}

func (s *Session) reserve(room Room) error {
	const rest = 256 // the header of the transaction, and the bytes that a server adds
	s.mu.Lock()
	defer s.mu.Unlock()
	all, most := s.room, 2*s.cfg.MaxPacket-rest
	for guid, bytes := range room {
		all += bytes - s.rooms[guid]
	}
	if all > most {
		return fmt.Errorf("%w: the transaction that ends the session would have %d bytes, with the paths of all its nodes, and servers read %d", ErrTooLarge, all, most)
	}
	for guid, bytes := range room {
		s.rooms[guid] = bytes
	}
	s.room = all
	return nil
}

// gone is called when a node is known to be gone.
func (s *Session) gone(path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	guid := ownGUID(path)
	all, counted := s.rooms[guid]
	if !counted {
		return
	}
	one := min(inRoom(len(path)), all)
	s.room -= one
	if s.rooms[guid] = all - one; all == one {
		delete(s.rooms, guid)
	}
}

// Gone is called when nodes of the session are known to be gone that were not deleted by
// this package.
func (s *Session) Gone(paths ...string) {
	for _, path := range paths {
		s.gone(path)
	}
}

// vacate is called when no node with a guid is left.
func (s *Session) vacate(guid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.room -= s.rooms[guid]
	delete(s.rooms, guid)
}
