package links

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"net/netip"
)

// errRequest ends a connection whose client asks for something other than a TCP connection to an
// IPv4 address.
var errRequest = errors.New("not a SOCKS request to connect to an IPv4 address")

// OpenSOCKS opens a SOCKS 5 server (RFC 1928) on a loopback port, without authentication and for
// TCP over IPv4 alone. It dials what route returns for the address that a client asks for.
func OpenSOCKS(route func(netip.AddrPort) string) (*Relay, error) {
	return openRelay(func(ctx context.Context, near net.Conn) (net.Conn, error) {
		to, err := readSOCKS(near)
		if err != nil {
			return nil, err
		}
		far, err := new(net.Dialer).DialContext(ctx, "tcp", route(to))
		const granted, refused = 0, 5
		answer := []byte{5, granted, 0, 1, 0, 0, 0, 0, 0, 0}
		if err != nil {
			answer[1] = refused
		}
		if _, failed := near.Write(answer); failed != nil && err == nil {
			far.Close()
			return nil, failed
		}
		return far, err
	})
}

// readSOCKS reads a client's greeting and its request.
func readSOCKS(conn net.Conn) (to netip.AddrPort, err error) {
	var greeting [2]byte // version, number of methods
	if _, err := io.ReadFull(conn, greeting[:]); err != nil {
		return to, err
	}
	if _, err := io.CopyN(io.Discard, conn, int64(greeting[1])); err != nil {
		return to, err
	}
	if _, err := conn.Write([]byte{5, 0}); err != nil { // no authentication
		return to, err
	}
	var request [10]byte // version, connect, 0, IPv4, address, port
	if _, err := io.ReadFull(conn, request[:]); err != nil {
		return to, err
	}
	if [4]byte(request[:4]) != [4]byte{5, 1, 0, 1} {
		return to, errRequest
	}
	return netip.AddrPortFrom(netip.AddrFrom4([4]byte(request[4:8])), binary.BigEndian.Uint16(request[8:])), nil
}
