package txnlog

import (
	"bytes"
	"iter"
	"time"
)

// Join is one sequence of transactions from the logs of several servers. Unlike [Committed] it
// takes what it gets: the logs of some of the servers, logs that begin at different times, and
// damaged ones, up to the damage.
type Join struct {
	logs []*raw
}

// Reach is the span of transactions that the logs of one server have.
type Reach struct {
	First, Last int64     // zxids; 0: it has no transaction
	At          time.Time // of the last
	Err         error     // that ended the logs early: one of [ReadLog]; nil at their end
}

// NewJoin joins the logs of servers. [Join.Transactions] reads them.
func NewJoin(servers []Dir) *Join {
	j := new(Join)
	for _, dir := range servers {
		j.logs = append(j.logs, &raw{dir: dir})
	}
	return j
}

// Reaches tells for each server, in their order, how far Transactions has read its logs.
func (j *Join) Reaches() (all []Reach) {
	for _, l := range j.logs {
		all = append(all, l.Reach)
	}
	return all
}

// Transactions yields each transaction once, in the order of the zxids. The data of its changes
// are valid until the next one. It leaves out a transaction that more of the servers lack than
// have, though their logs go on: a proposal that was never committed. A proposal at the end of
// the logs may be one too.
func (j *Join) Transactions() iter.Seq[Txn] {
	return func(yield func(Txn) bool) {
		for _, l := range j.logs {
			l.begin()
			defer l.stop()
			l.advance()
		}
		for {
			var least *raw
			for _, l := range j.logs {
				if !l.over && (least == nil || l.zxid < least.zxid) {
					least = l
				}
			}
			if least == nil {
				return
			}
			zxid := least.zxid
			if of := j.elected(zxid); of != nil {
				switch l, err := decoded(of.data); {
				case err != nil: // its checksum is right: a kind of transaction that is not known
					of.Err, of.over = err, true
				case !yield(l.Txn):
					return
				}
			}
			for _, l := range j.logs {
				if !l.over && l.zxid == zxid {
					l.Last, l.At = zxid, l.time()
					l.advance()
				}
			}
		}
	}
}

// elected returns a log that has the transaction with this zxid as most logs have it, nil if more
// servers lack it.
func (j *Join) elected(zxid int64) (best *raw) {
	most, lack := 0, 0
	for _, l := range j.logs {
		switch {
		case l.over:
		case l.zxid != zxid:
			if l.First != 0 && l.First < zxid {
				lack++
			}
		default:
			same := 1
			for _, other := range j.logs {
				if other != l && !other.over && other.zxid == zxid && bytes.Equal(other.head(), l.head()) {
					same++
				}
			}
			if same > most {
				best, most = l, same
			}
		}
	}
	if lack > most {
		return nil
	}
	return best
}

// raw is at a transaction of one server, which is not decoded.
type raw struct {
	dir  Dir
	next func() ([]byte, error, bool)
	stop func()
	data []byte
	zxid int64
	over bool
	Reach
}

func (l *raw) begin() {
	memory := reusing()
	l.Reach, l.over = Reach{}, false
	l.next, l.stop = iter.Pull2(func(yield func([]byte, error) bool) {
		for _, path := range l.dir.Logs {
			for data, err := range logBytes(path, memory) {
				if !yield(data, err) || err != nil {
					return
				}
			}
		}
	})
}

// advance goes to the next transaction, past those that the server has written twice.
func (l *raw) advance() {
	for before := l.zxid; ; {
		data, err, more := l.next()
		if !more || err != nil {
			l.Err, l.over = err, true
			return
		}
		h, _, ok := headerOf(data)
		if !ok {
			_, l.Err = decoded(data)
			l.over = true
			return
		}
		if h.zxid > before || l.First == 0 {
			l.data, l.zxid = data, h.zxid
			if l.First == 0 {
				l.First = h.zxid
			}
			return
		}
	}
}

// head returns the header, which has the session, the number of its request, the time and the
// kind. Two transactions that differ differ there.
func (l *raw) head() []byte { return l.data[:headerSize] }

func (l *raw) time() time.Time {
	h, _, _ := headerOf(l.data)
	return time.UnixMilli(h.millis)
}
