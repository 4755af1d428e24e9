package txnlog

import (
	"bytes"
	"fmt"
	"iter"
	"maps"
	"slices"
)

// Committed yields the transactions that a majority of the servers have logged, in the
// order of their zxids: those that the ensemble has carried out. A transaction that only
// a minority has was proposed and perhaps never committed, or is no longer in the logs of
// the others.
//
// A server that received the leader's tree has none of the transactions in between, and a
// log that is read while its server runs ends early, so that a committed transaction may
// be missing. The error that Committed yields last is one of [ReadLog].
func Committed(servers map[int]Dir) iter.Seq2[Txn, error] {
	return func(yield func(Txn, error) bool) {
		majority := len(servers)/2 + 1
		var logs []*cursor
		defer func() {
			for _, c := range logs {
				c.stop()
			}
		}()
		for _, id := range slices.Sorted(maps.Keys(servers)) {
			c := newCursor(id, servers[id])
			logs = append(logs, c)
			c.advance()
		}
		for {
			var at []*cursor // the cursors at the least zxid
			for _, c := range logs {
				switch {
				case c.err != nil:
					yield(Txn{}, c.err)
					return
				case c.over:
				case len(at) == 0 || c.now.Zxid < at[0].now.Zxid:
					at = append(at[:0], c)
				case c.now.Zxid == at[0].now.Zxid:
					at = append(at, c)
				}
			}
			if len(at) == 0 {
				return
			}
			if t := agreed(at, majority); t != nil && !yield(*t, nil) {
				return
			}
			for _, c := range at {
				c.advance()
			}
		}
	}
}

// agreed returns the transaction that a majority has at one zxid, or nil.
func agreed(at []*cursor, majority int) *Txn {
	for i, c := range at {
		same := 0
		for _, other := range at[i:] {
			if bytes.Equal(c.now.content, other.now.content) {
				same++
			}
		}
		if same >= majority {
			return &c.now.Txn
		}
	}
	return nil
}

// cursor is at a transaction of one server.
type cursor struct {
	next func() (logged, error, bool)
	stop func()
	id   int
	now  logged
	over bool
	err  error
}

func newCursor(id int, dir Dir) *cursor {
	c := &cursor{id: id}
	c.now.Zxid = -1
	c.next, c.stop = iter.Pull2(dir.entries())
	return c
}

// advance goes to the next transaction, past those that the server has written twice.
func (c *cursor) advance() {
	for before := c.now.Zxid; ; {
		next, err, more := c.next()
		switch {
		case !more:
			c.over = true
			return
		case err != nil:
			c.err = fmt.Errorf("server %d: %w", c.id, err)
			return
		case next.Zxid > before:
			c.now = next
			return
		}
	}
}
