package ensemble

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"net"
	"strings"
)

// maxFrame bounds what a server may send at once. It is far above the lists of
// nodes of a run, and nothing is allocated for more.
const maxFrame = 4 << 20

// Sizes of ZooKeeper's protocol: a reply's header, and the answer to a connect
// request, which newer servers end with whether they are read-only.
const (
	replyHeader  = 16
	minHandshake = 36
	maxHandshake = 37
	passwordSize = 16
)

// Guard returns a connection to a ZooKeeper server that fails with
// ErrNotZooKeeper, saying what came, as soon as the other end sends what no
// ZooKeeper server does: an answer to the connect request that is none, or a
// frame of less than a header or more than 4 MiB. go-zookeeper allocates what a
// frame's length says, and believes every answer.
func Guard(conn net.Conn) net.Conn {
	return &guarded{Conn: conn, in: bufio.NewReader(conn)}
}

type guarded struct {
	net.Conn
	in     *bufio.Reader
	shaken bool  // the answer to the connect request is here
	left   int   // bytes of the current frame that are still to be handed out
	err    error // why the connection was given up
}

func (g *guarded) Read(p []byte) (int, error) {
	if g.err != nil {
		return 0, g.err
	}
	if g.left == 0 {
		if err := g.begin(); err != nil {
			return 0, err
		}
	}
	n, err := g.in.Read(p[:min(len(p), g.left)])
	g.left -= n
	return n, err
}

// begin looks at the length of the next frame, and at all of the first.
func (g *guarded) begin() error {
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
		g.err = fmt.Errorf("%w: a frame of %d bytes%s", ErrNotZooKeeper, n, describe(came))
		return g.err
	}
	if !g.shaken {
		frame, err := g.in.Peek(4 + n)
		if err != nil {
			return err
		}
		if reason := implausible(frame[4:]); reason != "" {
			g.err = fmt.Errorf("%w: %s", ErrNotZooKeeper, reason)
			return g.err
		}
		g.shaken = true
	}
	g.left = 4 + n
	return nil
}

// implausible says why no ZooKeeper server answers a connect request so, ""
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

// describe quotes what came if it is text, and guesses whose.
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
