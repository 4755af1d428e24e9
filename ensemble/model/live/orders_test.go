package live

import (
	"encoding/binary"
	"testing"
)

// framed returns a request with rest bytes behind its header.
func framed(op uint32, rest int) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(8+rest))
	b = binary.BigEndian.AppendUint32(b, 7)
	b = binary.BigEndian.AppendUint32(b, op)
	return append(b, make([]byte, rest)...)
}

func TestAReleaseIsFoundAmongRequests(t *testing.T) {
	for name, c := range map[string]struct {
		data []byte
		want bool
	}{
		"alone":              {framed(2, 30), true},
		"behind another":     {append(framed(1, 50), framed(2, 30)...), true},
		"a create":           {framed(1, 50), false},
		"half a request":     {framed(1, 50)[:20], false},
		"too short to tell":  {framed(2, 30)[:11], false},
		"a length that lies": {append([]byte{255, 255, 255, 255}, framed(2, 30)[4:]...), true},
		"nothing":            {nil, false},
	} {
		if got := deletes(c.data); got != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}
