package ensemble_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/iotest"

	"github.com/zkverify/zkverify/ensemble"
)

func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// answer returns a server's answer to a connect request.
func answer(protocol, timeout int32, session int64, password int) []byte {
	body := binary.BigEndian.AppendUint32(nil, uint32(protocol))
	body = binary.BigEndian.AppendUint32(body, uint32(timeout))
	body = binary.BigEndian.AppendUint64(body, uint64(session))
	body = binary.BigEndian.AppendUint32(body, uint32(password))
	return frame(append(body, make([]byte, password)...))
}

func TestGuardEndsAConnectionAtWhatNoServerSends(t *testing.T) {
	good := answer(0, 4000, 5, 16)
	reply := frame(make([]byte, 20))
	whole := bytes.Join([][]byte{good, reply, reply}, nil)
	for _, test := range []struct {
		name   string
		sent   []byte
		passed int    // bytes
		says   string // part of the error; "" for none
	}{
		{"a session, and two replies", whole, len(whole), ""},
		{"one more byte of newer servers", append(frame(append(good[4:len(good):len(good)], 0)), reply...), 41 + 24, ""},
		{"a session that has expired", answer(0, 0, 0, 16), 40, ""},
		{"HTTP", []byte("HTTP/1.1 400 Bad Request\r\nServer: x\r\n"), 0, `"HTTP/1.1 400 Bad Request": an HTTP server?`},
		{"TLS", []byte{21, 3, 3, 0, 2, 2, 70}, 0, "a record of TLS"},
		{"another protocol", []byte("SSH-2.0-OpenSSH\r\n"), 0, `"SSH-2.0-OpenSSH"`},
		{"2 GB at first", []byte{127, 255, 255, 255}, 0, "2147483647 bytes"},
		{"less than nothing at first", []byte{255, 255, 255, 255}, 0, "-1 bytes"},
		{"another version", answer(1, 4000, 5, 16), 0, "protocol version 1"},
		{"a password of another length", frame(append(good[4:20:20], 0, 0, 0, 15, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0)), 0, "password of 15 bytes"},
		{"a session without a timeout", answer(0, 0, 5, 16), 0, "timeout of 0 ms"},
		{"a timeout without a session", answer(0, 4000, 0, 16), 0, "session 0x0"},
		{"a negative timeout", answer(0, -4000, 5, 16), 0, "timeout of -4000 ms"},
		{"2 GB afterwards", append(good[:len(good):len(good)], 127, 255, 255, 255), len(good), "2147483647 bytes"},
		{"less than nothing afterwards", append(good[:len(good):len(good)], 255, 255, 255, 255), len(good), "-1 bytes"},
		{"less than a header afterwards", append(good[:len(good):len(good)], 0, 0, 0, 8), len(good), "8 bytes"},
	} {
		t.Run(test.name, func(t *testing.T) {
			for _, pieces := range []func(io.Reader) io.Reader{func(r io.Reader) io.Reader { return r }, iotest.OneByteReader} {
				conn := ensemble.Guard(canned{Reader: pieces(bytes.NewReader(test.sent))})
				got, err := io.ReadAll(conn)
				if !bytes.Equal(got, test.sent[:test.passed]) {
					t.Errorf("passed %d bytes, want %d", len(got), test.passed)
				}
				switch {
				case test.says == "" && err != nil:
					t.Error(err)
				case test.says != "" && !errors.Is(err, ensemble.ErrNotZooKeeper):
					t.Errorf("got %v, want %q", err, test.says)
				}
				if _, again := conn.Read(make([]byte, 1)); test.says != "" && !errors.Is(again, err) {
					t.Errorf("then %v", again)
				}
			}
			// In one piece the error quotes more.
			if _, err := io.ReadAll(ensemble.Guard(canned{Reader: bytes.NewReader(test.sent)})); test.says != "" && !strings.Contains(err.Error(), test.says) {
				t.Errorf("got %v, want %q", err, test.says)
			}
		})
	}
}

// An answer of forty bytes may claim to have two billion names: the connection ends
// before go-zookeeper allocates memory for them. Package reply knows the structure of
// answers.
func TestGuardBelievesALengthOnlyAsFarAsBytesAreThere(t *testing.T) {
	const getChildren, number = 8, 7
	request := func(number, op uint32) []byte {
		return frame(binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(nil, number), op))
	}
	names := func(number, code, count uint32) []byte {
		body := binary.BigEndian.AppendUint32(nil, number)
		body = binary.BigEndian.AppendUint64(body, 5)
		body = binary.BigEndian.AppendUint32(body, code)
		return frame(binary.BigEndian.AppendUint32(body, count))
	}
	failed := uint32(0xffffff9b)
	for name, c := range map[string]struct {
		answer []byte
		passes bool
	}{
		"no names":                     {names(number, 0, 0), true},
		"two billion":                  {names(number, 0, 1<<31-1), false},
		"less than none":               {names(number, 0, 1<<32-1), false},
		"one that is not there":        {names(number, 0, 1), false},
		"an error, and anything":       {names(number, failed, 1<<31-1), true},
		"an answer to another request": {names(number+1, 0, 1<<31-1), true}, // go-zookeeper drops it
		"an event that breaks off":     {names(1<<32-1, 0, 3), false},
	} {
		t.Run(name, func(t *testing.T) {
			hello := answer(0, 4000, 5, 16)
			conn := ensemble.Guard(talking{canned{Reader: bytes.NewReader(append(hello, c.answer...))}})
			for _, said := range [][]byte{frame(make([]byte, 44)), request(number, getChildren)} {
				if _, err := conn.Write(said); err != nil {
					t.Fatal(err)
				}
			}
			got, err := io.ReadAll(conn)
			if c.passes && (err != nil || len(got) != len(hello)+len(c.answer)) {
				t.Errorf("%d bytes, %v", len(got), err)
			}
			if !c.passes && (!errors.Is(err, ensemble.ErrNotZooKeeper) || len(got) != len(hello)) {
				t.Errorf("%d bytes, %v; want %v", len(got), err, ensemble.ErrNotZooKeeper)
			}
		})
	}
}

// talking is a connection that accepts writes.
type talking struct{ canned }

func (talking) Write(p []byte) (int, error) { return len(p), nil }

// canned is a connection with a fixed input.
type canned struct {
	net.Conn
	io.Reader
}

func (c canned) Read(p []byte) (int, error) { return c.Reader.Read(p) }

// strange returns the address of a server that does not speak ZooKeeper's protocol.
func strange(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			stop := context.AfterFunc(ctx, func() { conn.Close() })
			all.Go(func() {
				defer stop()
				defer conn.Close()
				serve(conn)
			})
		}
	})
	t.Cleanup(func() { l.Close(); cancel(); all.Wait() })
	return l.Addr().String()
}

// greeting is a server that sends a text after its first input.
func greeting(text []byte) func(net.Conn) {
	return func(conn net.Conn) {
		_, _ = conn.Read(make([]byte, 4))
		_, _ = conn.Write(text)
	}
}

func silence(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }

func TestAStrangeServerIsNamedForWhatItIs(t *testing.T) {
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for _, test := range []struct {
		name  string
		serve func(net.Conn)
		is    error
		says  string
	}{
		{"HTTP", greeting([]byte("HTTP/1.1 400 Bad Request\r\n\r\n")), ensemble.ErrNotZooKeeper, "an HTTP server?"},
		{"a frame of 2 GB", greeting([]byte{127, 255, 255, 255}), ensemble.ErrNotZooKeeper, "7f ff ff ff"},
		{"silence", silence, ensemble.ErrUnreachable, "no answer within"},
		{"closed at once", func(net.Conn) {}, ensemble.ErrUnreachable, "no session"},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			addr := strange(t, test.serve)
			_, err := ensemble.External(testContext(t), []string{addr}, "run-s", ensemble.Credentials{})
			if !errors.Is(err, test.is) || !errors.Is(err, ensemble.ErrUnreachable) || !strings.Contains(err.Error(), test.says) || !strings.Contains(err.Error(), addr) {
				t.Errorf("got %v", err)
			}
			t.Log(err)
		})
	}
	t.Run("one that answers without an end", func(t *testing.T) {
		t.Parallel()
		endless := bytes.Repeat([]byte("x"), 1<<22)
		addr := strange(t, func(conn net.Conn) {
			for {
				if _, err := conn.Write(endless); err != nil {
					return
				}
			}
		})
		conn, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		// Without the five seconds of Four, in which a busy machine does not read 16 MiB.
		if _, err := ensemble.Ask(conn, "wchp"); !errors.Is(err, ensemble.ErrNotZooKeeper) || !strings.Contains(err.Error(), "more than 16 MiB") {
			t.Errorf("got %v", err)
		}
	})
	t.Cleanup(func() {
		runtime.ReadMemStats(&after)
		if grown := after.TotalAlloc - before.TotalAlloc; grown > 256<<20 {
			t.Errorf("%d MiB were allocated", grown>>20)
		}
	})
}

// tape is a connection to a server that has sent all its data.
type tape struct {
	net.Conn
	io.Reader
}

func (t tape) Read(p []byte) (int, error) { return t.Reader.Read(p) }
func (tape) Write(p []byte) (int, error)  { return len(p), nil }

// The data handed out are the data received, up to the first that no server sends.
func FuzzGuard(f *testing.F) {
	f.Add(append(answer(0, 4000, 5, 16), frame(make([]byte, 20))...))
	f.Add(append(answer(0, 4000, 5, 16), 0, 0, 0, 8))
	f.Add([]byte("SSH-2.0-OpenSSH\r\n"))
	f.Fuzz(func(t *testing.T, said []byte) {
		g := ensemble.Guard(tape{Reader: bytes.NewReader(said)})
		for _, p := range [][]byte{make([]byte, 44), frame([]byte{0, 0, 0, 0, 0, 0, 0, 12})} { // the connect request, and a list
			if _, err := g.Write(p); err != nil {
				t.Fatal(err)
			}
		}
		got, err := io.ReadAll(g)
		if !bytes.HasPrefix(said, got) || err == nil && len(got) < len(said) {
			t.Errorf("of %x Guard hands out %x, %v", said, got, err)
		}
	})
}
