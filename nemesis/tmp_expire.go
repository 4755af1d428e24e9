package nemesis

import (
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"time"
)

func tmpExpire(ctx context.Context, addr string, session int64, password []byte, timeout time.Duration) error {
	var d net.Dialer
	conn, err := d.DialContext(ctx, "tcp", addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	b := binary.BigEndian
	var req []byte
	req = b.AppendUint32(req, 0)
	req = b.AppendUint64(req, 0)
	req = b.AppendUint32(req, uint32(timeout.Milliseconds()))
	req = b.AppendUint64(req, uint64(session))
	req = b.AppendUint32(req, uint32(len(password)))
	req = append(req, password...)
	frame := append(b.AppendUint32(nil, uint32(len(req))), req...)
	if _, err := conn.Write(frame); err != nil {
		return err
	}
	var h [4]byte
	if _, err := io.ReadFull(conn, h[:]); err != nil {
		return err
	}
	resp := make([]byte, b.Uint32(h[:]))
	if _, err := io.ReadFull(conn, resp); err != nil {
		return err
	}
	if int64(b.Uint64(resp[8:])) != session {
		return fmt.Errorf("session refused")
	}
	if _, err := conn.Write([]byte{0, 0, 0, 8, 0, 0, 0, 1, 0xff, 0xff, 0xff, 0xf5}); err != nil {
		return err
	}
	_, err = io.ReadFull(conn, h[:])
	return err
}
