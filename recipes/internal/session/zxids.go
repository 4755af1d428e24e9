package session

import "sync"

// zxids holds the transactions that create nodes. The token of a lease is one of them. Only
// the reply to the create has it, and go-zookeeper does not pass it on: the session reads
// it from the wire.
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

// expect makes created keep the transaction of a create for take.
func (z *zxids) expect(guid string) {
	z.mu.Lock()
	defer z.mu.Unlock()
	if z.all == nil {
		z.all = make(map[string]int64)
	}
	z.all[guid] = 0
}

// take returns the transaction that created the node with this guid, or 0 when it is not
// known.
func (z *zxids) take(guid string) int64 {
	z.mu.Lock()
	defer z.mu.Unlock()
	zxid := z.all[guid]
	delete(z.all, guid)
	return zxid
}

// ExpectZxid makes the session keep the transaction that creates the node with this guid,
// for TakeZxid.
func (s *Session) ExpectZxid(guid string) { s.zxids.expect(guid) }

// TakeZxid returns the transaction that created the node with this guid, or 0 when no reply
// has told it.
func (s *Session) TakeZxid(guid string) int64 { return s.zxids.take(guid) }
