package session

import (
	"bytes"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"strings"
	"syscall"
)

// handshakeError explains the error of a TLS handshake with a port without TLS: ZooKeeper
// reads the beginning of the handshake as the length of a packet, and closes the
// connection.
func handshakeError(err error) error {
	var record tls.RecordHeaderError
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, syscall.ECONNRESET) || errors.As(err, &record) {
		return fmt.Errorf("TLS handshake: %w (a port without TLS, the clientPort? WithTLS goes with the secureClientPort)", err)
	}
	return fmt.Errorf("TLS handshake: %w", err)
}

// notZooKeeper returns the error of a connection that was given up because its other end
// cannot be a ZooKeeper server. came are the first bytes that it sent. The error quotes
// them, since they tell more than their meaning as a frame.
func notZooKeeper(reason error, came []byte) error {
	return fmt.Errorf("%w: %w%s", ErrNotZooKeeper, reason, describe(came))
}

// describe quotes the bytes if they are text, and names the kinds of server that are known
// to send them.
func describe(came []byte) string {
	const shown = 40
	switch {
	case bytes.HasPrefix(came, []byte("HTTP/")):
		line, _, _ := strings.Cut(string(came), "\r\n")
		return fmt.Sprintf(" (it sent %.*q: an HTTP server?)", shown, line)
	case len(came) >= 3 && (came[0] == 21 || came[0] == 22) && came[1] == 3 && came[2] <= 4:
		return " (it sent a record of TLS: a secureClientPort? See WithTLS)"
	case readable(came):
		return fmt.Sprintf(" (it sent %.*q)", shown, came)
	case len(came) > 0:
		return fmt.Sprintf(" (it sent % x)", came[:min(len(came), shown/2)])
	}
	return ""
}

// readable reports whether the bytes are readable text.
func readable(came []byte) bool {
	for _, b := range came {
		if (b < ' ' || b > '~') && !strings.ContainsRune("\r\n\t", rune(b)) {
			return false
		}
	}
	return len(came) > 0
}
