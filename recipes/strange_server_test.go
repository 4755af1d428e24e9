package recipes_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/zkverify/zkverify/recipes"
)

// frame is a packet of ZooKeeper's protocol.
func frame(body []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(body))), body...)
}

// answer is a server's answer to a connect request.
func answer(protocol, timeout int32, session int64, password int) []byte {
	body := binary.BigEndian.AppendUint32(nil, uint32(protocol))
	body = binary.BigEndian.AppendUint32(body, uint32(timeout))
	body = binary.BigEndian.AppendUint64(body, uint64(session))
	body = binary.BigEndian.AppendUint32(body, uint32(password))
	return frame(append(body, bytes.Repeat([]byte{7}, password)...))
}

// says returns a server that reads the connect request and sends the answers.
func says(answers ...[]byte) func(net.Conn) {
	return func(conn net.Conn) {
		if !readsRequest(conn) {
			return
		}
		for _, a := range answers {
			if _, err := conn.Write(a); err != nil {
				return
			}
		}
		_, _ = io.Copy(io.Discard, conn) // until the client goes
	}
}

// readsRequest reads the connect request: closing before would reset the connection.
func readsRequest(conn net.Conn) bool {
	var size [4]byte
	if _, err := io.ReadFull(conn, size[:]); err != nil {
		return false
	}
	_, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(size[:])))
	return err == nil
}

// strangeServers holds servers that are not ZooKeeper servers. A nil want means that the client
// cannot detect it.
var strangeServers = []struct {
	name  string
	serve func(net.Conn)
	want  error  // error of Connect, besides the end of its context
	says  string // part of the error's text
}{
	{"one that accepts and closes", func(net.Conn) {}, nil, ""},
	{"one that reads the request and closes", func(c net.Conn) { readsRequest(c) }, io.EOF, "closed the connection"},
	{"one that refuses a new session with timeout 0", says(answer(0, 0, 0, 16)), recipes.ErrNotZooKeeper, "timeout of 0"},
	{"one that gives a session without a timeout", says(answer(0, 0, 5, 16)), recipes.ErrNotZooKeeper, "a timeout of 0"},
	{"one that gives a timeout without a session", says(answer(0, 3_000, 0, 16)), recipes.ErrNotZooKeeper, "session 0"},
	{"one that gives a session for weeks", says(answer(0, 1<<31-1, 5, 16)), recipes.ErrNotZooKeeper, "596h31m23"},
	{"one that gives a session for a millisecond", says(answer(0, 1, 5, 16)), recipes.ErrNotZooKeeper, "1ms"},
	{"one that gives a session for less than nothing", says(answer(0, -5, 5, 16)), recipes.ErrNotZooKeeper, "-5ms"},
	{"one of another protocol", says(answer(1, 3_000, 5, 16)), recipes.ErrNotZooKeeper, "protocol version 1"},
	{"one with a short password", says(answer(0, 3_000, 5, 15)), recipes.ErrNotZooKeeper, "35 bytes"},
	{"one with a long password", says(answer(0, 3_000, 5, 17)), recipes.ErrNotZooKeeper, "password of 17 bytes"},
	{"one whose answer ends too soon", says(frame(make([]byte, 35))), recipes.ErrNotZooKeeper, "35 bytes"},
	{"one that sends a frame of 2 GB", says(binary.BigEndian.AppendUint32(nil, 1<<31-1)), recipes.ErrNotZooKeeper, "2147483647 bytes"},
	{"one that sends a frame of less than nothing", says(binary.BigEndian.AppendUint32(nil, 1<<32-1)), recipes.ErrNotZooKeeper, "-1 bytes"},
	{"one that speaks of a secret first", says([]byte("SSH-2.0-OpenSSH_9.2\r\n")), recipes.ErrNotZooKeeper, "SSH-2.0-OpenSSH"},
	{"one of HTTP", says([]byte("HTTP/1.1 400 Bad Request\r\nContent-Type: text/plain\r\n\r\n")), recipes.ErrNotZooKeeper,
		`(it sent "HTTP/1.1 400 Bad Request": an HTTP server?)`},
	{"one that sends a frame of little else than zeros", says(append(binary.BigEndian.AppendUint32(nil, 1<<30), 0, 0, 'a')), recipes.ErrNotZooKeeper, "(it sent 40 00 00 00 00 00 61)"},
	{"one of TLS", says([]byte{21, 3, 1, 0, 2, 2, 70}), recipes.ErrNotZooKeeper, "WithTLS"},
	{"one of random bytes", func(c net.Conn) {
		body := make([]byte, 36)
		for i := range body {
			body[i] = byte(rand.N(256))
		}
		body[0] = 1 // otherwise one in 2³² has the right version
		says(frame(body))(c)
	}, recipes.ErrNotZooKeeper, "protocol version"},
}

// TestServersThatAreNotWhatTheyShouldBe points Connect at small listeners.
func TestServersThatAreNotWhatTheyShouldBe(t *testing.T) {
	for name, options := range map[string][]recipes.Option{"": nil, ", for a client of SASL": {recipes.WithSASL(recipes.DigestMD5("app", "secret"))}} {
		for _, test := range strangeServers {
			t.Run(test.name+name, func(t *testing.T) {
				addr := listening(t, test.serve)
				got := pointedWith(t, 500*time.Millisecond, []string{addr}, options...)
				t.Logf("%d connects, %d kB: %v", got.connects, got.allocated>>10, got.err)
				if test.want != nil && !errors.Is(got.err, test.want) || !strings.Contains(got.err.Error(), test.says) || !strings.Contains(got.err.Error(), addr) {
					t.Errorf("got %v", got.err)
				}
			})
		}
	}
	t.Run("an HTTP server that waits for the rest of the request", func(t *testing.T) {
		server := httptest.NewServer(http.NotFoundHandler())
		t.Cleanup(server.Close)
		addr := server.Listener.Addr().String()
		for patience, want := range map[time.Duration]string{300 * time.Millisecond: "no answer yet", 3 * time.Second: "did not answer within 1s"} {
			if got := pointedAt(t, patience, addr); !strings.Contains(got.err.Error(), addr+": ") || !strings.Contains(got.err.Error(), want) {
				t.Errorf("after %v: %v", patience, got.err)
			}
		}
	})
}

// pointed holds the results of a Connect.
type pointed struct {
	connects  int64
	allocated uint64 // bytes, by the whole process
	err       error
}

// pointedAt runs Connect for the time patience, and fails the test if it makes too many attempts
// or allocates too much memory.
func pointedAt(t *testing.T, patience time.Duration, addrs ...string) pointed {
	t.Helper()
	return pointedWith(t, patience, addrs)
}

func pointedWith(t *testing.T, patience time.Duration, addrs []string, options ...recipes.Option) pointed {
	t.Helper()
	endsItsGoroutines(t)
	var got pointed
	var connects atomic.Int64
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	c, err := recipes.Connect(ctx, addrs, append(options, recipes.WithSessionTimeout(3*time.Second), recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
		connects.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}))...)
	runtime.ReadMemStats(&after)
	if err == nil {
		_ = c.Close(within(t))
		t.Fatal("Connect has a session")
	}
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Connect does not say that its context has ended: %v", err)
	}
	got.connects, got.allocated, got.err = connects.Load(), after.TotalAlloc-before.TotalAlloc, err
	if got.connects > 20 {
		t.Errorf("%d connects in %v", got.connects, patience)
	}
	if got.allocated > 16<<20 {
		t.Errorf("%d MB were allocated", got.allocated>>20)
	}
	return got
}

// listening returns the address of a server.
func listening(t *testing.T, serve func(net.Conn)) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	open := make(map[net.Conn]struct{})
	var mu sync.Mutex
	all.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			mu.Lock()
			open[conn] = struct{}{}
			mu.Unlock()
			all.Go(func() {
				serve(conn)
				conn.Close()
				mu.Lock()
				delete(open, conn)
				mu.Unlock()
			})
		}
	})
	t.Cleanup(func() {
		l.Close()
		mu.Lock()
		for conn := range open {
			conn.Close()
		}
		mu.Unlock()
		all.Wait()
	})
	return l.Addr().String()
}
