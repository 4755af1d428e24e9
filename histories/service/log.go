package service

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strings"
	"time"
)

// FileName is the name of the file in the folder of a run.
const FileName = "service.jsonl"

// Version is the version of the format. A reader refuses a newer one.
const Version = 1

// Log is the servers' record of a run.
type Log struct {
	Header
	Nodes    []Node    // ephemeral nodes of locks, in the order of their creation
	Standing []Node    // nodes of locks that outlive sessions, such as that of a barrier, in the same order
	Parents  []Node    // containers of locks, the parents of such nodes, in the same order; none in files of older builds
	Sessions []Session // the owners of such nodes, and other sessions that the run knew of, in the order of their ends; open sessions are last
}

// Header is the first line of the file.
type Header struct {
	Version      int           `json:"service"`
	History      time.Time     `json:"history"`      // Started of the header of the run's history
	Servers      int           `json:"servers"`      // the number of servers whose logs were read
	Transactions int           `json:"transactions"` // the number of transactions that a majority of them had
	Clock        time.Duration `json:"clock"`        // ns by which a time may be off, see [At]
}

// At is a transaction.
type At struct {
	Zxid int64         `json:"zxid"`
	Time time.Duration `json:"at"` // ns since the run's origin, when the leader took the request; negative before the run
}

// Node is a node of a lock, from its creation to its end.
type Node struct {
	Path    string `json:"path"`    // below the run's locks: the lock's key and, unless the lock is this one node, a slash and the rest
	Session string `json:"session"` // the session that created it: it owns an ephemeral node
	Created At     `json:"created"`
	Deleted *At    `json:"deleted,omitempty"` // nil if the node still exists
	// By is the session whose request deleted the node; empty if that is the node's own
	// session, if the end of that session deleted the node, or if the servers did so by themselves, as
	// they do with a container whose last child is gone.
	By string `json:"by,omitempty"`
	// Ended reports whether the node was deleted with its session.
	Ended bool `json:"ended,omitempty"`
	// Used is the creation of the first child of a container.
	Used *At `json:"used,omitempty"`
	// Writes are the transactions that wrote to the node's data.
	Writes []Write `json:"writes,omitempty"`
}

// SizeSuffix ends the name of the node with the size of a shared semaphore, which lies beside it.
const SizeSuffix = "-size"

// Write is a transaction that wrote to a node.
type Write struct {
	At
	By   string `json:"by,omitempty"`   // the session that wrote; empty if it is the node's own
	Same bool   `json:"same,omitempty"` // the data are those that the node was created with
}

// Lock returns the key of the lock.
func (n *Node) Lock() string {
	key, _, _ := strings.Cut(n.Path, "/")
	return key
}

// Name returns the rest of the path, "" if the lock is this one node.
func (n *Node) Name() string {
	_, name, _ := strings.Cut(n.Path, "/")
	return name
}

// Session is a session of a client.
type Session struct {
	ID      string `json:"id"`                // as in histories
	Closed  *At    `json:"closed,omitempty"`  // nil if the session has not ended
	Expired bool   `json:"expired,omitempty"` // the servers ended it; otherwise a client with its id and password closed it
}

// SortSessions sorts sessions into the order of a Log.
func SortSessions(all []Session) {
	end := func(s Session) int64 {
		if s.Closed == nil {
			return math.MaxInt64
		}
		return s.Closed.Zxid
	}
	slices.SortFunc(all, func(a, b Session) int { return cmp.Or(cmp.Compare(end(a), end(b)), strings.Compare(a.ID, b.ID)) })
}

// Line is a line of the file after the header.
type Line struct {
	Node     *Node    `json:"node,omitempty"`
	Standing *Node    `json:"standing,omitempty"`
	Parent   *Node    `json:"parent,omitempty"`
	Session  *Session `json:"session,omitempty"`
}

// Write writes the file.
func (l *Log) Write(w io.Writer) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	l.Version = Version
	err := enc.Encode(l.Header)
	for i := range l.Sessions {
		err = errors.Join(err, enc.Encode(Line{Session: &l.Sessions[i]}))
	}
	for i := range l.Nodes {
		err = errors.Join(err, enc.Encode(Line{Node: &l.Nodes[i]}))
	}
	for i := range l.Standing {
		err = errors.Join(err, enc.Encode(Line{Standing: &l.Standing[i]}))
	}
	for i := range l.Parents {
		err = errors.Join(err, enc.Encode(Line{Parent: &l.Parents[i]}))
	}
	return errors.Join(err, out.Flush())
}

// ErrFormat is wrapped by the error for a file that is no such record.
var ErrFormat = errors.New("not a record of what servers did")

// ReadFile reads a file. Its errors match [ErrFormat], or come from the file system.
func ReadFile(path string) (*Log, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	l, err := Read(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return l, nil
}

// maxRecord is the greatest size of a record in bytes: a path of ZooKeeper is shorter.
const maxRecord = 1 << 20

// bounded is the input of a decoder. Read fails once the current record is longer than maxRecord.
type bounded struct {
	from    io.Reader
	decoder *json.Decoder
	read    int64
}

func (b *bounded) Read(p []byte) (int, error) {
	if b.read-b.decoder.InputOffset() > maxRecord {
		return 0, fmt.Errorf("the record is longer than %d bytes", maxRecord)
	}
	n, err := b.from.Read(p)
	b.read += int64(n)
	return n, err
}

// Read reads a file from r, as ReadFile does.
func Read(r io.Reader) (*Log, error) {
	in := &bounded{from: r}
	dec := json.NewDecoder(in)
	in.decoder = dec
	l := new(Log)
	if err := dec.Decode(&l.Header); err != nil {
		return nil, fmt.Errorf("%w: line 1: %w", ErrFormat, err)
	}
	if l.Version < 1 || l.Version > Version || l.Clock < 0 {
		return nil, fmt.Errorf("%w: line 1: version %d, clock %d", ErrFormat, l.Version, l.Clock)
	}
	for n := 2; ; n++ {
		var line Line
		err := dec.Decode(&line)
		switch {
		case errors.Is(err, io.EOF):
			return l, nil
		case err != nil:
			return nil, fmt.Errorf("%w: line %d: %w", ErrFormat, n, err)
		case line.Session != nil:
			l.Sessions = append(l.Sessions, *line.Session)
		case line.Node != nil:
			err = add(&l.Nodes, line.Node)
		case line.Standing != nil:
			err = add(&l.Standing, line.Standing)
		case line.Parent != nil:
			err = add(&l.Parents, line.Parent)
		}
		if err != nil {
			return nil, fmt.Errorf("%w: line %d: %w", ErrFormat, n, err)
		}
	}
}

// add adds a node that was read, if it is in order.
func add(all *[]Node, n *Node) error {
	last := int64(-1)
	if len(*all) > 0 {
		last = (*all)[len(*all)-1].Created.Zxid
	}
	if n.Lock() == "" || n.Created.Zxid < last || n.Deleted != nil && n.Deleted.Zxid < n.Created.Zxid {
		return fmt.Errorf("the node %q, of 0x%x, is out of order or has no lock", n.Path, n.Created.Zxid)
	}
	*all = append(*all, *n)
	return nil
}
