package recipes

import "strings"

// The token of a lease is the transaction that created its node. Only the reply to the
// create has it, which go-zookeeper does not pass on: the session reads it from the wire.

// created implements wireTap: the node at path was created by transaction zxid.
func (s *session) created(path string, zxid int64) {
	guid := guidOf(path[strings.LastIndexByte(path, '/')+1:])
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, expected := s.zxids[guid]; expected {
		s.zxids[guid] = zxid
	}
}

// expectZxid makes the session keep the transaction of a create, for takeZxid.
func (s *session) expectZxid(guid string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.zxids[guid] = 0
}

// takeZxid returns the transaction that created the node with this guid, 0 when
// it was not told.
func (s *session) takeZxid(guid string) int64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	zxid := s.zxids[guid]
	delete(s.zxids, guid)
	return zxid
}
