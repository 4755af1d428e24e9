package session

import "sync"

// zxids are the transactions that create nodes. The token of a lease is one of
// them, and only the reply to the create has it, which go-zookeeper does not pass
// on: the session reads it from the wire.
type zxids struct {
	mu  sync.Mutex
	all map[string]int64 // of creates under way, by guid; 0 until answered
}

// created notes that the node with this guid was created by transaction zxid.
func (z *zxids) created(guid string, zxid int64) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if _, expected := z.all[guid]; expected {
		z.all[guid] = zxid
	}
}

// expect has the transaction of a create kept for take.
func (z *zxids) expect(guid string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.all == nil {
		z.all = make(map[string]int64)
	}
	z.all[guid] = 0
}

// take returns the transaction that created the node with this guid, 0 when it was
// not told.
func (z *zxids) take(guid string) int64 {
	z.mu.Lock()
	defer z.mu.Unlock()
	zxid := z.all[guid]
	delete(z.all, guid)
	return zxid
}

// ExpectZxid keeps the transaction of a create, of a node with this guid, for TakeZxid.
func (s *Session) ExpectZxid(guid string) { s.zxids.expect(guid) }

// TakeZxid returns the transaction that created the node with this guid, 0 when no reply has
// told it.
func (s *Session) TakeZxid(guid string) int64 { return s.zxids.take(guid) }
