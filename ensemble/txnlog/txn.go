package txnlog

import (
	"encoding/binary"
	"fmt"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Txn is a transaction.
type Txn struct {
	Zxid    int64
	Session int64     // of the request; 0 for the server's own
	Cxid    int32     // the request's number in its session
	Time    time.Time // by the leader's wall clock, to the millisecond
	Op      wire.Op   // of the request; wire.ErrorOp if it failed

	// Changes are the changes to nodes, in order: one for a create, for example, those of its
	// parts for a multi, and a delete for each ephemeral node of a session that is closed. A
	// transaction that failed has none.
	Changes []Change
	// Timeout is the timeout of a session that is created.
	Timeout time.Duration
	// Err is the error of a transaction that failed, and wire.OK otherwise: for a multi, the
	// error of the part that failed.
	Err wire.Code
	// Digest is the digest of the whole tree after the transaction. It is 0 if the server keeps
	// none, and for a multi that failed. Servers that agree have the same digest at the same
	// zxid.
	Digest uint64
}

// Source is implemented by servers that know their transactions by themselves: simulated ones in
// memory. Committed returns those that were committed, in order. The time of each is the instant
// at which the first server has applied it.
type Source interface{ Committed() []Txn }

// Change is the effect of a transaction on one node.
type Change struct {
	Op   wire.Op // wire.Create, wire.Delete, wire.SetData, wire.SetACL or wire.Check
	Path string
	Data []byte // of wire.Create and wire.SetData
	// Ephemeral reports that a created node belongs to the session of the transaction.
	Ephemeral bool
	Container bool          // of a created node
	TTL       time.Duration // of a created node; 0 if it has none
	Version   int32         // the new one of wire.SetData and wire.SetACL, or the one that wire.Check has found
}

// header begins a transaction.
type header struct {
	session int64
	cxid    int32
	zxid    int64
	millis  int64
	op      wire.Op
}

// Sizes in bytes.
const (
	headerSize = 8 + 4 + 8 + 8 + 4
	codeSize   = 4
)

// headerOf reads a header, and returns the bytes behind it. It reports false if there are too
// few bytes.
func headerOf(data []byte) (h header, rest []byte, ok bool) {
	if len(data) < headerSize {
		return header{}, nil, false
	}
	n := binary.BigEndian
	return header{
		session: int64(n.Uint64(data)), cxid: int32(n.Uint32(data[8:])), zxid: int64(n.Uint64(data[12:])),
		millis: int64(n.Uint64(data[20:])), op: wire.Op(int32(n.Uint32(data[28:]))),
	}, data[headerSize:], true
}

// decode reads a transaction from its bytes in a log. content is the part of the bytes
// that every server has: all but the digest, and for a multi that failed the header
// alone.
func decode(data []byte) (t Txn, content []byte, err error) {
	h, rest, ok := headerOf(data)
	if !ok {
		return Txn{}, nil, fmt.Errorf("%w: %d bytes of a header", wire.ErrMalformed, len(data))
	}
	t = Txn{Zxid: h.zxid, Session: h.session, Cxid: h.cxid, Time: time.UnixMilli(h.millis), Op: h.op}
	var d digest
	if rest, err = t.body(rest); err == nil && len(rest) > 0 {
		_, err = wire.Decode(rest, &d)
	}
	if err != nil {
		return Txn{}, nil, fmt.Errorf("zxid 0x%x: %w", h.zxid, err)
	}
	t.Digest = uint64(d.tree)
	content = data[:len(data)-len(rest)]
	if t.Op == wire.Multi && t.Err != wire.OK {
		content = content[:headerSize]
	}
	return t, content, nil
}

// body reads the record behind the header, and returns the bytes behind that.
func (t *Txn) body(data []byte) (rest []byte, err error) {
	switch t.Op {
	case wire.CreateSession:
		var millis number
		rest, err = wire.Decode(data, &millis)
		t.Timeout = time.Duration(millis) * time.Millisecond
	case wire.CloseSession:
		if len(data) == 0 {
			return nil, nil // before 3.6 the nodes are not named
		}
		var paths paths
		if rest, err = wire.Decode(data, &paths); err == nil {
			for _, p := range paths {
				t.Changes = append(t.Changes, Change{Op: wire.Delete, Path: p})
			}
		}
	case wire.ErrorOp:
		var code number
		rest, err = wire.Decode(data, &code)
		t.Err = wire.Code(code)
	case wire.Multi:
		var m multi
		if rest, err = wire.Decode(data, &m); err != nil {
			return nil, err
		}
		return rest, t.parts(m)
	default:
		var change Change
		if change, rest, err = decodeChange(t.Op, data); err == nil {
			t.Changes = []Change{change}
		}
	}
	return rest, err
}

// parts reads the parts of a multi. A multi that failed has errors in place of the part
// that failed and of each part behind it; none of its parts is carried out, not even
// those before (DataTree.processTxn). A server that is sent the multi after the leader
// has come that far logs these parts as errors as well, but with the bytes of their
// requests: the leader has changed their kind in memory.
func (t *Txn) parts(m multi) error {
	for _, part := range m {
		var code number
		switch {
		case part.op == wire.ErrorOp && len(part.data) == codeSize:
			_, err := wire.Decode(part.data, &code)
			t.Err, t.Changes = wire.Code(code), nil
			return err
		case part.op == wire.ErrorOp:
			continue
		}
		change, _, err := decodeChange(part.op, part.data)
		if err != nil {
			return err
		}
		t.Changes = append(t.Changes, change)
	}
	return nil
}

// decodeChange reads the change of a transaction of this kind, or of a part of a multi.
func decodeChange(op wire.Op, data []byte) (Change, []byte, error) {
	c := Change{Op: op}
	var record wire.Record
	switch op {
	case wire.Create, wire.Create2, wire.CreateContainer, wire.CreateTTL:
		c.Op, c.Container = wire.Create, op == wire.CreateContainer
		record = &create{&c, op}
	case wire.Delete, wire.DeleteContainer:
		c.Op = wire.Delete
		record = fields(func(codec *wire.Codec) { codec.String(&c.Path) })
	case wire.SetData, wire.Reconfig:
		c.Op = wire.SetData
		record = fields(func(codec *wire.Codec) { codec.String(&c.Path); codec.Bytes(&c.Data); codec.Int32(&c.Version) })
	case wire.SetACL:
		record = fields(func(codec *wire.Codec) { codec.String(&c.Path); skipACL(codec); codec.Int32(&c.Version) })
	case wire.Check:
		// As for a write, the leader notes the version after the one that it has found.
		record = fields(func(codec *wire.Codec) { codec.String(&c.Path); codec.Int32(&c.Version); c.Version-- })
	default:
		return Change{}, nil, fmt.Errorf("%w: a transaction of kind %d", wire.ErrMalformed, op)
	}
	rest, err := wire.Decode(data, record)
	return c, rest, err
}

// create is the record of a create. The kinds of creates differ in its end.
type create struct {
	*Change
	op wire.Op
}

func (r *create) Fields(c *wire.Codec) {
	c.String(&r.Path)
	c.Bytes(&r.Data)
	skipACL(c)
	if r.op == wire.Create || r.op == wire.Create2 {
		c.Bool(&r.Ephemeral)
	}
	var parentVersion int32
	c.Int32(&parentVersion)
	if r.op == wire.CreateTTL {
		var millis int64
		c.Int64(&millis)
		r.TTL = time.Duration(millis) * time.Millisecond
	}
}

// skipACL reads an access control list.
func skipACL(c *wire.Codec) {
	var n int32
	c.Int32(&n)
	// An entry has at least four bytes, so that a number of entries too large for the rest of the
	// bytes ends at once.
	for range min(int(n), c.Left()/4+1) {
		var permissions int32
		var scheme, id []byte
		c.Int32(&permissions)
		c.Bytes(&scheme)
		c.Bytes(&id)
	}
}

// fields is a record whose Fields is a function.
type fields func(*wire.Codec)

func (f fields) Fields(c *wire.Codec) { f(c) }

type number int32

func (n *number) Fields(c *wire.Codec) { c.Int32((*int32)(n)) }

type paths []string

func (p *paths) Fields(c *wire.Codec) { c.Strings((*[]string)(p)) }

// multi is a list of parts, each with its kind and its bytes.
type multi []struct {
	op   wire.Op
	data []byte
}

func (m *multi) Fields(c *wire.Codec) {
	var n int32
	c.Int32(&n)
	for range min(int(n), c.Left()/8+1) {
		var op int32
		var data []byte
		c.Int32(&op)
		c.Bytes(&data)
		*m = append(*m, struct {
			op   wire.Op
			data []byte
		}{wire.Op(op), data})
	}
}

type digest struct {
	version int32
	tree    int64
}

func (d *digest) Fields(c *wire.Codec) { c.Int32(&d.version); c.Int64(&d.tree) }
