package inprocess

import (
	"encoding/binary"
	"testing"
	"time"
)

// response is a ConnectResponse frame.
func response(session int64, password string) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(20+len(password)))
	b = binary.BigEndian.AppendUint32(b, 0)
	b = binary.BigEndian.AppendUint32(b, 2000)
	b = binary.BigEndian.AppendUint64(b, uint64(session))
	b = binary.BigEndian.AppendUint32(b, uint32(len(password)))
	return append(b, password...)
}

func TestAHandshakeIsRead(t *testing.T) {
	whole := response(0x10002, "0123456789abcdef")
	for name, c := range map[string]struct {
		in       []byte
		session  int64
		password string
		done     bool
	}{
		"when it is whole":                   {whole, 0x10002, "0123456789abcdef", true},
		"with what comes after it":           {append(whole, 1, 2, 3), 0x10002, "0123456789abcdef", true},
		"when the session was refused":       {response(0, ""), 0, "", true},
		"not before its length is there":     {whole[:3], 0, "", false},
		"not before all of it is there":      {whole[:len(whole)-1], 0, "", false},
		"and anything else is not taken for": {[]byte("HTTP/1.1 200 OK"), 0, "", true},
	} {
		t.Run(name, func(t *testing.T) {
			h, done := parseConnectResponse(c.in)
			if h.session != c.session || string(h.password) != c.password || done != c.done {
				t.Errorf("%+v, %v", h, done)
			}
			if h.session != 0 && h.timeout != 2*time.Second {
				t.Errorf("timeout %v", h.timeout)
			}
		})
	}
}

func FuzzAHandshakeNeverPanics(f *testing.F) {
	f.Add(response(1, "x"))
	f.Fuzz(func(t *testing.T, in []byte) { parseConnectResponse(in) })
}
