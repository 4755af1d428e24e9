package tree

import (
	"crypto/sha1"
	"encoding/base64"
	"strconv"
	"strings"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// Authenticate returns the identity that a client proves to a server without a super
// user; false means AuthFailed. For the scheme digest auth is what the client sent,
// "user:password". The scheme ip does not use it: its identity is the address that the
// server sees.
func Authenticate(scheme string, auth []byte, ip string) (wire.ID, bool) {
	switch scheme {
	case "ip":
		return wire.ID{Scheme: "ip", ID: ip}, true
	case "digest":
		user, _, _ := strings.Cut(string(auth), ":")
		hash := sha1.Sum(auth)
		return wire.ID{Scheme: "digest", ID: user + ":" + base64.StdEncoding.EncodeToString(hash[:])}, true
	}
	return wire.ID{}, false
}

// parseCIDR reads an IPv4 address, a.b.c.d or a.b.c.d/bits.
func parseCIDR(s string) (addr uint32, bits int, ok bool) {
	s, size, slash := strings.Cut(s, "/")
	parts := strings.Split(s, ".")
	if len(parts) != 4 {
		return 0, 0, false
	}
	for _, p := range parts {
		v, err := strconv.Atoi(p)
		if err != nil || v < 0 || v > 255 {
			return 0, 0, false
		}
		addr = addr<<8 | uint32(v)
	}
	if !slash {
		return addr, 32, true
	}
	bits, err := strconv.Atoi(size)
	return addr, bits, err == nil && bits >= 0 && bits <= 32
}

// matchesIP reports whether an address lies in a block.
func matchesIP(block, address string) bool {
	b, bits, ok := parseCIDR(block)
	a, _, isAddress := parseCIDR(address)
	return ok && isAddress && (a^b)>>(32-bits) == 0
}
