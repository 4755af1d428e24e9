package inspect

import (
	"cmp"
	"maps"
	"path"
	"slices"
)

// juteMaxBuffer is the default of the servers' jute.maxbuffer.
const juteMaxBuffer = 1<<20 - 1

// worthSaying is the divisor of a limit from which on it is a finding: half of it is used.
const worthSaying = 2

// sequenceEnd is the number of sequence numbers that a node gives to its children, and
// transactionEnd the number of transactions that a leader makes.
const (
	sequenceEnd    = int64(1) << 31
	transactionEnd = int64(1) << 32
)

// Sizes of data that servers write.
const (
	listHeader = 4 + 8 + 4 + 4 + 68 // of an answer with the children of a node: numbers, count, stat
	permitName = 56                 // of a permit: _c_, guid, -lease-, sequence number
)

// inList returns the bytes of a child in a list, and inClosing those of a node in the
// transaction that ends its session.
func inList(name int) int    { return 4 + name }
func inClosing(path int) int { return 4 + path }

func (c *Checks) maxPacket() int { return cmp.Or(c.MaxPacket, juteMaxBuffer) }

// longList finds a node of the lock whose children fill half of an answer, or more.
// manyPermits finds a semaphore whose permits would do so before they are out.
func longList(l *Lock, c Checks) *Finding {
	limit := c.maxPacket()
	lists := make(map[string]int)
	for i := range l.Queue {
		dir, name := path.Split(l.Queue[i].Path)
		lists[dir] += inList(len(name))
	}
	for _, node := range l.Foreign {
		dir, name := path.Split(node)
		lists[dir] += inList(len(name))
	}
	for _, dir := range slices.Sorted(maps.Keys(lists)) {
		if bytes := listHeader + lists[dir]; bytes*worthSaying >= limit {
			return &Finding{Problem: LongList, Nodes: []string{path.Clean(dir)}, Bytes: bytes, Limit: limit}
		}
	}
	return nil
}

// manyPermits finds a semaphore whose size is too large for the list of its permits.
func manyPermits(l *Lock, c Checks) *Finding {
	size := cmp.Or(c.Sizes[l.Path], l.Size)
	bytes := listHeader + size*inList(permitName)
	if l.Recipe != Semaphore || bytes*worthSaying < c.maxPacket() {
		return nil
	}
	return &Finding{Problem: ManyPermits, Size: size, Bytes: bytes, Limit: c.maxPacket()}
}

func sequenceEnds(l *Lock, _ Checks) *Finding {
	last := int64(-1)
	for i := range l.Queue {
		sequence := int64(l.Queue[i].Sequence)
		if sequence < 0 { // the number has wrapped
			sequence += 2 * sequenceEnd
		}
		last = max(last, sequence)
	}
	left := max(0, sequenceEnd-1-last)
	if last < 0 || left*worthSaying > sequenceEnd {
		return nil
	}
	// The node with the last number changes with every acquire: no node is part of the finding.
	return &Finding{Problem: SequenceEnds, Left: left}
}

// largeSessions finds sessions whose end makes a transaction that is large for the servers.
// The transaction has the paths of all nodes of the session. The paths come from the
// servers, or from the locks if these have more.
func largeSessions(locks []Lock, c Checks) (found []Finding) {
	type session struct {
		locks []string
		nodes int
		bytes int
		first *Contender
	}
	sessions := make(map[int64]*session)
	for i := range locks {
		l := &locks[i]
		for j := range l.Queue {
			n := &l.Queue[j]
			if n.Session == 0 {
				continue
			}
			s := sessions[n.Session]
			if s == nil {
				s = &session{first: n}
				sessions[n.Session] = s
			}
			s.nodes, s.bytes = s.nodes+1, s.bytes+inClosing(len(n.Path))
			if k := len(s.locks); k == 0 || s.locks[k-1] != l.Path {
				s.locks = append(s.locks, l.Path)
			}
		}
	}
	limit := 2 * c.maxPacket()
	for _, id := range slices.Sorted(maps.Keys(sessions)) {
		s := sessions[id]
		if nodes, bytes := c.Sessions.ephemerals(id); bytes > s.bytes {
			s.nodes, s.bytes = nodes, bytes
		}
		if s.bytes*worthSaying >= limit {
			found = append(found, Finding{Problem: LargeSession, Locks: s.locks, Contender: s.first, Out: s.nodes, Bytes: s.bytes, Limit: limit})
		}
	}
	return found
}

// transactionsEnd finds that the leader has used half of its transaction numbers. The
// finding belongs to no lock.
func transactionsEnd(c Checks) (found []Finding) {
	left := transactionEnd - c.Sessions.transactions()
	if left*worthSaying > transactionEnd {
		return nil
	}
	return []Finding{{Problem: TransactionsEnd, Left: left}}
}
