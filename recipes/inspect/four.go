package inspect

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"time"
)

// Dial opens a connection to a server, with TLS if the servers want it. The DialContext
// methods of net.Dialer and tls.Dialer are such functions.
type Dial func(ctx context.Context, network, addr string) (net.Conn, error)

// ErrNotAllowed is the error of a server that does not allow a four-letter word. A server
// lists the allowed words in 4lw.commands.whitelist, by default only srvr.
var ErrNotAllowed = errors.New("the server does not allow this four-letter word (4lw.commands.whitelist)")

// fourLimit bounds the answer to a four-letter word: dump names every ephemeral node.
const (
	fourLimit = 64 << 20
	fourTime  = 5 * time.Second
)

// ask sends a four-letter word to a server and returns the answer.
func ask(ctx context.Context, dial Dial, addr, word string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, fourTime)
	defer cancel()
	conn, err := dial(ctx, "tcp", addr)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	if _, err = io.WriteString(conn, word); err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	answer, err := io.ReadAll(io.LimitReader(conn, fourLimit+1))
	text := string(answer)
	switch {
	case ctx.Err() != nil:
		err = context.Cause(ctx)
	case err != nil:
	case len(answer) > fourLimit:
		err = errors.New("the answer is too long")
	case strings.Contains(text, "not in the whitelist"):
		err = ErrNotAllowed
	case strings.Contains(text, "not currently serving requests"):
		err = errors.New("the server does not serve")
	case len(answer) == 0:
		err = io.ErrUnexpectedEOF
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", word, err)
	}
	return text, nil
}
