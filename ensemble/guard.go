package ensemble

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"slices"
	"strings"
	"sync"

	"github.com/zkverify/zkverify/internal/zkconn"
)

// maxFrame bounds a frame from a server. It is far above the lists of a run's nodes; no
// memory is allocated for more.
const maxFrame = 4 << 20

// Sizes of ZooKeeper's protocol: the header of a reply, and the answer to a connect
// request. Newer servers end that answer with a byte that says whether they are
// read-only.
const (
	replyHeader  = 16
	minHandshake = 36
	maxHandshake = 37
	passwordSize = 16
)

// Guard returns a connection to a ZooKeeper server. It fails with ErrNotZooKeeper, which
// quotes the data, as soon as the other end sends data that no ZooKeeper server sends: an
// answer to the connect request that is none, a frame of less than a header or more than
// 4 MiB, or an answer that is shorter than its own counts say. go-zookeeper allocates
// memory by a frame's length and an answer's counts, and believes every answer. It writes
// each request by one call.
func Guard(conn net.Conn) net.Conn {
	return &guarded{Conn: conn, in: bufio.NewReader(conn), asked: make(map[int32]int32)}
}

type guarded struct {
	net.Conn
	in     *bufio.Reader
	shaken bool   // the answer to the connect request is here
	whole  []byte // the current frame, with its length
	left   []byte // of it, the bytes that have not been handed out
	err    error  // why the connection was given up

	mu        sync.Mutex
	connected bool            // the connect request has left
	asked     map[int32]int32 // operations by the numbers of the requests under way
}

func (g *guarded) Write(p []byte) (int, error) {
	const number, operation = 4, 8 // their offsets
	g.mu.Lock()
	if g.connected && len(p) >= operation+4 {
		g.asked[int32(binary.BigEndian.Uint32(p[number:]))] = int32(binary.BigEndian.Uint32(p[operation:]))
	}
	g.connected = true
	g.mu.Unlock()
	return g.Conn.Write(p)
}

func (g *guarded) Read(p []byte) (int, error) {
	if g.err == nil && len(g.left) == 0 {
		g.err = g.next()
	}
	if g.err != nil {
		return 0, g.err
	}
	n := copy(p, g.left)
	g.left = g.left[n:]
	return n, nil
}

// next reads the next frame and checks it.
func (g *guarded) next() error {
	size, err := g.in.Peek(4)
	if err != nil {
		return err
	}
	n := int(int32(binary.BigEndian.Uint32(size)))
	least, most := replyHeader, maxFrame
	if !g.shaken {
		least, most = minHandshake, maxHandshake
	}
	if n < least || n > most {
		came, _ := g.in.Peek(g.in.Buffered())
		return fmt.Errorf("%w: a frame of %d bytes%s", ErrNotZooKeeper, n, describe(came))
	}
	g.whole = slices.Grow(g.whole[:0], 4+n)[:4+n]
	if _, err := io.ReadFull(g.in, g.whole); err != nil {
		return err
	}
	if err := g.judge(g.whole[4:]); err != nil {
		return fmt.Errorf("%w: %w", ErrNotZooKeeper, err)
	}
	g.left = g.whole
	return nil
}

// judge returns the reason why no ZooKeeper server sends the frame, nil if one may.
func (g *guarded) judge(frame []byte) error {
	if !g.shaken {
		g.shaken = true
		if reason := implausible(frame); reason != "" {
			return errors.New(reason)
		}
		return nil
	}
	number, code, body := int32(binary.BigEndian.Uint32(frame)), binary.BigEndian.Uint32(frame[12:]), frame[replyHeader:]
	if number == zkconn.EventXid {
		return zkconn.CheckEvent(body)
	}
	g.mu.Lock()
	op, ok := g.asked[number]
	delete(g.asked, number)
	g.mu.Unlock()
	if !ok || code != 0 {
		return nil
	}
	return zkconn.CheckAnswer(op, body)
}

// implausible returns the reason why no ZooKeeper server answers a connect request so, ""
// when one may.
func implausible(answer []byte) string {
	protocol := int32(binary.BigEndian.Uint32(answer))
	timeout := int32(binary.BigEndian.Uint32(answer[4:]))
	session := int64(binary.BigEndian.Uint64(answer[8:]))
	password := int32(binary.BigEndian.Uint32(answer[16:]))
	switch {
	case protocol != 0:
		return fmt.Sprintf("protocol version %d instead of 0", protocol)
	case password != passwordSize:
		return fmt.Sprintf("a password of %d bytes instead of %d", password, passwordSize)
	case timeout < 0, (timeout == 0) != (session == 0): // both are 0 when the session has expired
		return fmt.Sprintf("session %#x with a timeout of %d ms", session, timeout)
	}
	return ""
}

// describe quotes the data if it is text, and guesses which kind of server sent it.
func describe(came []byte) string {
	const shown = 40
	line, _, _ := strings.Cut(string(came), "\n")
	line = strings.TrimRight(line, "\r")
	switch {
	case len(came) == 0:
		return ""
	case bytes.HasPrefix(came, []byte("HTTP/")):
		return fmt.Sprintf(" (%.*q: an HTTP server?)", shown, line)
	case len(came) >= 3 && (came[0] == 21 || came[0] == 22) && came[1] == 3 && came[2] <= 4:
		return " (a record of TLS: a secureClientPort?)"
	case strings.IndexFunc(line, func(r rune) bool { return r < ' ' || r > '~' }) < 0 && line != "":
		return fmt.Sprintf(" (%.*q)", shown, line)
	}
	return fmt.Sprintf(" (% x)", came[:min(len(came), shown/2)])
}
