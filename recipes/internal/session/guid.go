package session

import (
	"encoding/binary"
	"strings"
)

// NewGUID returns a random UUID (version 4) as text. It has to be unique, not secret: the
// runtime's generator, which the system seeds, is enough, and needs no deep stack, which a
// waiter would keep.
func NewGUID() string {
	var b [16]byte
	binary.BigEndian.PutUint64(b[:8], random.Uint64())
	binary.BigEndian.PutUint64(b[8:], random.Uint64())
	b[6] = b[6]&0x0f | 0x40
	b[8] = b[8]&0x3f | 0x80
	text := make([]byte, 0, 36)
	for i, part := range b {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text = append(text, '-')
		}
		text = append(text, hexDigits[part>>4], hexDigits[part&0xf])
	}
	return string(text)
}

const hexDigits = "0123456789abcdef"

// ProtectedName returns the beginning of the name of a node with this guid, as in Curator:
// _c_<uuid>-<kind><sequence>. The guid finds a node whose create was never answered.
func ProtectedName(guid, kind string) string { return "_c_" + guid + "-" + kind }

// GUIDOf returns the uuid in the name of a protected node, or "".
func GUIDOf(name string) string {
	const length = 36
	if !strings.HasPrefix(name, "_c_") || len(name) < 3+length {
		return ""
	}
	return name[3 : 3+length]
}
