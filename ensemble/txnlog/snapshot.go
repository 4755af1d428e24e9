package txnlog

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"hash"
	"hash/adler32"
	"io"
	"math"
	"os"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Snapshot is the tree that a server has written to disk. Servers carry out transactions
// while they write it: it may include some that are later than its zxid, and misses none
// that is earlier.
type Snapshot struct {
	Zxid     int64 // in the file's name
	Sessions map[int64]time.Duration
	Nodes    []Node
}

// Node is a node of a snapshot.
type Node struct {
	Path                string
	Data                []byte
	Czxid, Mzxid, Pzxid int64
	Created             time.Time // by the wall clock of the leader of that time
	Version, Cversion   int32
	// Owner is the session of an ephemeral node, and 0 for a node without an owner. Containers
	// and nodes with a time to live have numbers here that are no sessions.
	Owner int64
}

// Ephemeral reports whether a session owns the node.
func (n *Node) Ephemeral() bool {
	const withTTL = 0xff // the highest byte of the owner, which no session has
	return n.Owner != 0 && n.Owner != math.MinInt64 && uint64(n.Owner)>>56 != withTTL
}

// Fields implements wire.Record.
func (n *Node) Fields(c *wire.Codec) {
	var acl, created, modified int64
	var aversion int32
	c.Bytes(&n.Data)
	c.Int64(&acl)
	c.Int64(&n.Czxid)
	c.Int64(&n.Mzxid)
	c.Int64(&created)
	c.Int64(&modified)
	c.Int32(&n.Version)
	c.Int32(&n.Cversion)
	c.Int32(&aversion)
	c.Int64(&n.Owner)
	c.Int64(&n.Pzxid)
	n.Created = time.UnixMilli(created)
}

// ReadSnapshot reads a snapshot, also one that is compressed (snapshot.compression.method). Its
// errors match [ErrNotALog] or [ErrDamaged], also for a snapshot that was not written to its end,
// or are of the file system.
func ReadSnapshot(path string) (*Snapshot, error) {
	s := &Snapshot{Sessions: make(map[int64]time.Duration)}
	err := ScanSnapshot(path, func(id int64, timeout time.Duration) { s.Sessions[id] = timeout }, func(n *Node) { s.Nodes = append(s.Nodes, *n) })
	if err != nil {
		return nil, err
	}
	s.Zxid, _ = zxidOf(path)
	return s, nil
}

// ScanSnapshot is ReadSnapshot for a tree that is too large for memory: it calls a function for
// each session, and then one for each node. What they were told is void if it returns an error.
func ScanSnapshot(path string, session func(id int64, timeout time.Duration), node func(*Node)) error {
	f, err := os.Open(path)
	if err != nil {
		return err
	}
	defer f.Close()
	plain, err := decompress(path, f)
	if err == nil {
		err = scan(plain, session, node)
	}
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	return nil
}

func scan(from io.Reader, session func(int64, time.Duration), node func(*Node)) error {
	r := &summing{from: bufio.NewReaderSize(from, 1<<16), sum: adler32.New()}
	if err := readMagic(r, snapshotMagic); err != nil {
		switch {
		case errors.Is(err, io.EOF):
			err = fmt.Errorf("%w: it is empty", ErrNotALog)
		case !errors.Is(err, ErrNotALog): // of the decompression
			err = fmt.Errorf("%w: %w", ErrDamaged, err)
		}
		return err
	}
	for range r.int32() {
		id, millis := r.int64(), r.int32()
		if r.err != nil {
			break
		}
		session(id, time.Duration(millis)*time.Millisecond)
	}
	r.acls()
	for path := r.string(); r.err == nil && path != "/"; path = r.string() {
		n := Node{Path: path}
		record := r.node()
		if r.err != nil {
			break
		}
		if _, err := wire.Decode(record, &n); err != nil {
			return fmt.Errorf("%w: node %s: %w", ErrDamaged, path, err)
		}
		if n.Path == "" {
			n.Path = "/" // the root is written as the empty path
		}
		node(&n)
	}
	want := uint64(r.sum.Sum32())
	got, slash := uint64(r.int64()), r.string()
	switch {
	case r.err != nil:
		return fmt.Errorf("%w: %w", ErrDamaged, r.err)
	case got != want, slash != "/":
		return fmt.Errorf("%w: the snapshot's checksum is wrong", ErrDamaged)
	}
	return nil
}

// summing reads the parts of a snapshot and sums them up. After the first error it
// returns zeros.
type summing struct {
	from *bufio.Reader
	sum  hash.Hash32
	err  error
}

// Read implements io.Reader.
func (r *summing) Read(p []byte) (int, error) {
	n, err := r.from.Read(p)
	r.sum.Write(p[:n])
	return n, err
}

// take reads n bytes.
func (r *summing) take(n int) []byte {
	if r.err != nil {
		return nil
	}
	if n < 0 || n > largest {
		r.err = fmt.Errorf("a length of %d", n)
		return nil
	}
	data, err := read(r, n)
	if r.err = err; err != nil {
		return nil
	}
	return data
}

func (r *summing) int32() int32 {
	if b := r.take(4); b != nil {
		return int32(binary.BigEndian.Uint32(b))
	}
	return 0
}

func (r *summing) int64() int64 {
	if b := r.take(8); b != nil {
		return int64(binary.BigEndian.Uint64(b))
	}
	return 0
}

// bytes reads a length and as many bytes. The length -1 stands for none.
func (r *summing) bytes() (length int32, data []byte) {
	if length = r.int32(); length <= 0 {
		return length, nil
	}
	return length, r.take(int(length))
}

func (r *summing) string() string {
	_, data := r.bytes()
	return string(data)
}

// acls reads the access control lists.
func (r *summing) acls() {
	for range r.int32() {
		r.int64()
		for range r.int32() {
			r.int32()
			r.string()
			r.string()
			if r.err != nil {
				return
			}
		}
		if r.err != nil {
			return
		}
	}
}

// node reads the bytes of a node: its data, and 68 bytes of numbers.
func (r *summing) node() []byte {
	length, data := r.bytes()
	record := binary.BigEndian.AppendUint32(nil, uint32(length))
	record = append(record, data...)
	return append(record, r.take(8+60)...)
}
