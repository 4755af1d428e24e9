package zkconn

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-zookeeper/zk"
)

// answerToConnect is a server's answer to a connect request: a session, with a timeout of 4 s.
func answerToConnect(session uint64) []byte {
	b := binary.BigEndian.AppendUint32(nil, 37)
	b = binary.BigEndian.AppendUint32(b, 0)
	timeout := uint32(4000)
	if session == 0 {
		timeout = 0
	}
	b = binary.BigEndian.AppendUint32(b, timeout)
	b = binary.BigEndian.AppendUint64(b, session)
	b = binary.BigEndian.AppendUint32(b, 16)
	return append(b, make([]byte, 17)...)
}

// answerToToken is a server's answer to a SASL request; a nil token means none.
func answerToToken(xid, code int32, token []byte) []byte {
	b := binary.BigEndian.AppendUint32(nil, uint32(xid))
	b = binary.BigEndian.AppendUint64(b, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(code))
	if token == nil {
		b = binary.BigEndian.AppendUint32(b, 1<<32-1)
	} else {
		b = append(binary.BigEndian.AppendUint32(b, uint32(len(token))), token...)
	}
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(b))), b...)
}

// readToken reads a SASL request, and returns its number. It returns false when there is
// none.
func readToken(conn net.Conn) (xid int32, ok bool) {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return 0, false
	}
	frame := make([]byte, binary.BigEndian.Uint32(size[:]))
	if _, err := io.ReadFull(conn, frame); err != nil || len(frame) < 12 || binary.BigEndian.Uint32(frame[4:]) != opSASL {
		return 0, false
	}
	return int32(binary.BigEndian.Uint32(frame)), true
}

const challenge = `realm="zk-sasl-md5",nonce="abc",charset=utf-8,algorithm=md5-sess`

// read lets a server serve one connection of a client, and returns the first bytes that the
// client reads.
func read(t *testing.T, m Mechanism, patience time.Duration, serve func(net.Conn)) ([]byte, error) {
	t.Helper()
	client, server := net.Pipe()
	served := make(chan struct{})
	go func() { // ends with the connection
		defer close(served)
		defer server.Close()
		serve(server)
	}()
	c := WithSASL(client, "zk.example.com:2181", m, patience, plausible)
	got := make([]byte, 64)
	n, err := c.Read(got)
	c.Close()
	<-served
	return got[:n], err
}

// plausible refuses a protocol version.
func plausible(answer []byte) bool { return binary.BigEndian.Uint32(answer) == 0 }

func digest() Mechanism { return NewDigestMD5("app", "secret") }

// says returns a server that answers the first token, whose request has number 1, with
// these frames.
func says(frames ...[]byte) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Write(answerToConnect(7))
		if _, ok := readToken(conn); !ok {
			return
		}
		for _, f := range frames {
			if _, err := conn.Write(f); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// Servers, of ZooKeeper or not, may send other messages instead of an authentication. None
// takes more time than the client's patience, nor more memory than a token may have.
func TestServersThatDoNotAuthenticate(t *testing.T) {
	for name, test := range map[string]struct {
		serve func(net.Conn)
		final bool
		says  string
	}{
		"one without SASL":                  {says(answerToToken(1, 0, nil)), true, "the server has no SASL"},
		"one that refuses":                  {says(answerToToken(1, authFailed, nil)), true, "-115"},
		"one that refuses, as it demands":   {says(answerToToken(1, requiresAuth, nil)), true, "-124"},
		"one that refuses in another way":   {says(answerToToken(1, -6, nil)), true, "error -6"},
		"one that refuses in few bytes":     {says(answerToToken(1, authFailed, nil)[:0:0], append([]byte{0, 0, 0, 16}, answerToToken(1, authFailed, nil)[4:20]...)), true, "-115"},
		"one that refuses the proof":        {asks(answerToToken(1, 0, []byte(challenge)), answerToToken(2, authFailed, nil)), true, "the password is wrong"},
		"one that proves nothing":           {asks(answerToToken(1, 0, []byte(challenge)), answerToToken(2, 0, nil)), true, "does not prove"},
		"one that proves it wrongly":        {asks(answerToToken(1, 0, []byte(challenge)), answerToToken(2, 0, []byte("rspauth=0123456789abcdef0123456789abcdef"))), true, "does not prove"},
		"one of another mechanism":          {says(answerToToken(1, 0, []byte{0x60, 0x81, 0, 1, 2})), true, "none of DIGEST-MD5"},
		"one with an old algorithm":         {says(answerToToken(1, 0, []byte(`nonce="a",algorithm=md5`))), true, "algorithm"},
		"one without a nonce":               {says(answerToToken(1, 0, []byte(`algorithm=md5-sess`))), true, "nonce"},
		"one with two nonces":               {says(answerToToken(1, 0, []byte(`nonce="a",nonce="b",algorithm=md5-sess`))), true, "2 values"},
		"one that only encrypts":            {says(answerToToken(1, 0, []byte(`nonce="a",algorithm=md5-sess,qop="auth-conf"`))), true, "auth-conf"},
		"one with a long challenge":         {says(answerToToken(1, 0, bytes.Repeat([]byte("a"), 3000))), true, "3000 bytes"},
		"one that closes":                   {func(c net.Conn) { _, _ = c.Write(answerToConnect(7)); readToken(c) }, false, "closed the connection during"},
		"one that is silent":                {says(), false, "within 1s"},
		"one that stops in an answer":       {says(answerToToken(1, 0, []byte(challenge))[:30]), false, "within 1s"},
		"one that reads nothing":            {func(c net.Conn) { _, _ = c.Write(answerToConnect(7)); time.Sleep(time.Minute) }, false, "within 1s"},
		"one that answers another request":  {says(answerToToken(3, 0, []byte(challenge))), false, "to request 3"},
		"one that sends an event":           {says(answerToToken(-1, 0, []byte(challenge))), false, "to request -1"},
		"one with a frame of 2 GB":          {says([]byte{0x7f, 0xff, 0xff, 0xff}), false, "2147483647 bytes"},
		"one with a frame of no header":     {says([]byte{0, 0, 0, 15}), false, "15 bytes"},
		"one with no token's length":        {says(append([]byte{0, 0, 0, 16}, answerToToken(1, 0, nil)[4:20]...)), false, "it has no token"},
		"one whose token is cut off":        {says(append([]byte{0, 0, 0, 20}, append(answerToToken(1, 0, nil)[4:20], 0, 0, 0, 9)...)), false, "a token of 9"},
		"one whose token is less than none": {says(append([]byte{0, 0, 0, 20}, append(answerToToken(1, 0, nil)[4:20], 0xff, 0, 0, 0)...)), false, "a token of -"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				begun := time.Now()
				got, err := read(t, digest(), time.Second, test.serve)
				var failed *AuthError
				if !errors.As(err, &failed) || len(got) > 0 || errors.Is(err, zk.ErrAuthFailed) != test.final || !strings.Contains(err.Error(), test.says) {
					t.Errorf("the client reads %d bytes and %v, want %q", len(got), err, test.says)
				}
				if took := time.Since(begun); name != "one that reads nothing" && took > time.Second {
					t.Errorf("it took %v", took)
				}
			})
		})
	}
}

// asks answers token after token.
func asks(frames ...[]byte) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Write(answerToConnect(7))
		for _, f := range frames {
			if _, ok := readToken(conn); !ok {
				return
			}
			if _, err := conn.Write(f); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn)
	}
}

// endless has an answer to every challenge.
type endless struct{ started int }

func (*endless) Name() string { return "ENDLESS" }

func (e *endless) Start(context.Context, string) ([]byte, func([]byte) ([]byte, error), error) {
	return []byte{}, func([]byte) ([]byte, error) { e.started++; return []byte{1}, nil }, nil
}

func TestAServerDoesNotAskForEver(t *testing.T) {
	m := new(endless)
	_, err := read(t, m, time.Minute, func(conn net.Conn) {
		_, _ = conn.Write(answerToConnect(7))
		for {
			xid, ok := readToken(conn)
			if !ok {
				return
			}
			if _, err := conn.Write(answerToToken(xid, 0, []byte("again"))); err != nil {
				return
			}
		}
	})
	if !errors.Is(err, zk.ErrAuthFailed) || m.started != maxRounds || !strings.Contains(err.Error(), "asks again and again") {
		t.Errorf("after %d challenges: %v", m.started, err)
	}
}

// A message that is no answer to a connect request with a session is handed out as it came,
// and no token is sent.
func TestWhatIsNoSessionIsHandedOut(t *testing.T) {
	for name, sent := range map[string][]byte{
		"that the session has expired": answerToConnect(0),
		"a frame of another size":      {0, 0, 0, 5, 1, 2, 3, 4, 5},
		"another protocol":             append([]byte{0, 0, 0, 37, 1}, answerToConnect(7)[5:]...),
		"text":                         []byte("HTTP/1.1 400 Bad Request\r\n\r\n"),
		"a few bytes":                  {0, 0, 0},
		"half an answer":               answerToConnect(7)[:20],
		"nothing":                      {},
	} {
		t.Run(name, func(t *testing.T) {
			client, server := net.Pipe()
			more := make(chan int64, 1)
			go func() { // ends with the connection
				_, _ = server.Write(sent)
				server.Close()
				n, _ := io.Copy(io.Discard, server)
				more <- n
			}()
			got, err := io.ReadAll(WithSASL(client, "zk:2181", digest(), time.Minute, plausible))
			if err != nil || !bytes.Equal(got, sent) {
				t.Errorf("read %q and %v, want %q", got, err, sent)
			}
			if n := <-more; n > 0 {
				t.Errorf("%d bytes were sent", n)
			}
		})
	}
}

// stuck waits for the end of its context, as a mechanism waits for a KDC.
type stuck struct{ started chan struct{} }

func (stuck) Name() string { return "STUCK" }

func (s stuck) Start(ctx context.Context, _ string) ([]byte, func([]byte) ([]byte, error), error) {
	close(s.started)
	<-ctx.Done()
	return nil, nil, ctx.Err()
}

func TestAMechanismIsToldOfTheEndOfItsConnection(t *testing.T) {
	client, server := net.Pipe()
	defer server.Close()
	go func() { _, _ = server.Write(answerToConnect(7)) }() // the client reads it
	m := stuck{make(chan struct{})}
	c := WithSASL(client, "zk:2181", m, time.Hour, plausible)
	done := make(chan error)
	go func() { _, err := c.Read(make([]byte, 64)); done <- err }()
	<-m.started
	c.Close()
	if err := <-done; !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	synctest.Test(t, func(t *testing.T) {
		begun := time.Now()
		_, err := read(t, stuck{make(chan struct{})}, time.Second, says())
		if !errors.Is(err, context.DeadlineExceeded) || errors.Is(err, zk.ErrAuthFailed) || time.Since(begun) != time.Second {
			t.Errorf("after %v: %v", time.Since(begun), err)
		}
	})
}

// tape is a connection to a server that sends a fixed text and ignores what it receives.
type tape struct {
	net.Conn
	*bytes.Reader
}

func (t tape) Read(p []byte) (int, error)     { return t.Reader.Read(p) }
func (tape) Write(p []byte) (int, error)      { return len(p), nil }
func (tape) SetDeadline(time.Time) error      { return nil }
func (tape) SetWriteDeadline(time.Time) error { return nil }
func (tape) Close() error                     { return nil }

// No bytes of a server pass for an authentication. Bytes that are no answer to a connect
// request are handed out as they came.
func FuzzServer(f *testing.F) {
	ours := answerToConnect(7)
	f.Add(append(answerToConnect(7), answerToToken(1, 0, []byte(challenge))...))
	f.Add(bytes.Join([][]byte{ours, answerToToken(1, 0, []byte(challenge)), answerToToken(2, 0, []byte("rspauth=0"))}, nil))
	f.Add(append(answerToConnect(7), answerToToken(1, authFailed, nil)...))
	f.Add(append(answerToConnect(0), 1))
	f.Add([]byte("HTTP/1.1 400 Bad Request\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		got, err := io.ReadAll(WithSASL(tape{Reader: bytes.NewReader(said)}, "zk:2181", digest(), time.Hour, plausible))
		var refused *AuthError
		if err == nil && !bytes.Equal(got, said) || err != nil && (len(got) > 0 || !errors.As(err, &refused)) {
			t.Errorf("of %x it reads %x, %v", said, got, err)
		}
		if err == nil && bytes.HasPrefix(said, ours) {
			t.Errorf("%x passes for an authentication", said)
		}
	})
}
