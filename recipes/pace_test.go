package recipes_test

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// stand is a network of pipes, in a bubble: attempts take no time, so every wait is the client's.
type stand struct {
	start time.Time

	mu      sync.Mutex
	servers map[string]func(net.Conn) // an address that is missing refuses
	dials   []time.Duration           // start times of the attempts, since start
	latest  string                    // the address dialed last
	conns   []net.Conn                // of the servers
}

// newStand returns a stand with the same server at all addresses. A nil serve stands for no
// server.
func newStand(serve func(net.Conn), addrs ...string) *stand {
	s := &stand{start: time.Now()}
	s.serve(serve, addrs...)
	return s
}

// serve puts servers at these addresses, and none at others.
func (s *stand) serve(serve func(net.Conn), addrs ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.servers = make(map[string]func(net.Conn))
	for _, addr := range addrs {
		s.servers[addr] = serve
	}
}

var errRefused = errors.New("refused")

func (s *stand) dial(_ context.Context, _, addr string) (net.Conn, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.dials, s.latest = append(s.dials, time.Since(s.start)), addr
	serve := s.servers[addr]
	if serve == nil {
		return nil, errRefused
	}
	ours, theirs := net.Pipe()
	s.conns = append(s.conns, theirs)
	go func() {
		serve(theirs)
		theirs.Close()
	}()
	return ours, nil
}

// breaks closes every connection.
func (s *stand) breaks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, conn := range s.conns {
		conn.Close()
	}
	s.conns = nil
}

// attempts returns the number of attempts, and the address of the latest.
func (s *stand) attempts() (n int, latest string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.dials), s.latest
}

// most returns the largest number of attempts in a window of that length.
func (s *stand) most(window time.Duration) int {
	most := 0
	for i, at := range s.dials {
		n, _ := slices.BinarySearch(s.dials[i:], at+window)
		most = max(most, n)
	}
	return most
}

// serving serves sessions: it grants them, resumes them, and answers pings and the
// request to close. Each frame goes out whole, after the list of greetings.
func serving(timeout time.Duration, greetings ...[]byte) func(net.Conn) {
	return func(conn net.Conn) {
		if !readsRequest(conn) {
			return
		}
		for _, g := range append([][]byte{answer(0, int32(timeout.Milliseconds()), 5, 16)}, greetings...) {
			if _, err := conn.Write(g); err != nil {
				return
			}
		}
		for {
			var head [12]byte // length, xid, operation
			if _, err := io.ReadFull(conn, head[:]); err != nil {
				return
			}
			if _, err := io.CopyN(io.Discard, conn, int64(binary.BigEndian.Uint32(head[:]))-8); err != nil {
				return
			}
			answer := append(head[4:8:8], make([]byte, 12)...)
			if binary.BigEndian.Uint32(head[8:]) == opSync {
				answer = append(answer, 0, 0, 0, 1, '/')
			}
			if _, err := conn.Write(frame(answer)); err != nil {
				return
			}
		}
	}
}

// closing grants a session and ends the connection at once.
func closing(conn net.Conn) {
	if readsRequest(conn) {
		_, _ = conn.Write(answer(0, 10_000, 5, 16))
	}
}

// forgetting grants sessions, and answers later that they have expired.
func forgetting(conn net.Conn) {
	request := make([]byte, 48)
	if _, err := io.ReadFull(conn, request); err != nil {
		return
	}
	if binary.BigEndian.Uint64(request[20:]) == 0 {
		_, _ = conn.Write(answer(0, 10_000, 5, 16))
	} else {
		_, _ = conn.Write(answer(0, 0, 0, 16))
	}
}

func TestAClientIsPoliteToServersThatServeNobody(t *testing.T) {
	cases := map[string]func(net.Conn){
		"one that refuses":                                      nil,
		"one that grants a session and closes":                  closing,
		"one that grants sessions and forgets them":             forgetting,
		"one whose session begins with a frame of 2 GB":         serving(10*time.Second, binary.BigEndian.AppendUint32(nil, 1<<31-1)),
		"one whose session begins with a frame of -1 bytes":     serving(10*time.Second, binary.BigEndian.AppendUint32(nil, 1<<32-1)),
		"one whose session begins with a frame without a head":  serving(10*time.Second, frame(make([]byte, 8))),
		"one whose session begins with a frame of over a MB":    serving(10*time.Second, binary.BigEndian.AppendUint32(nil, 1<<20+1<<10)),
		"one that is silent after the session has been granted": says(answer(0, 10_000, 5, 16)),
	}
	for _, s := range strangeServers {
		cases[s.name] = s.serve
	}
	for name, serve := range cases {
		for _, list := range [][]string{{"a:1"}, {"a:1", "b:1", "c:1"}} {
			t.Run(name, func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
					s := newStand(serve, list...)
					ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
					defer cancel()
					c, err := recipes.Connect(ctx, list, recipes.WithDialer(s.dial))
					<-ctx.Done()
					if err == nil {
						if err := c.Close(context.Background()); err != nil {
							t.Error(err)
						}
					}
					s.breaks()
					synctest.Wait()
					time.Sleep(10 * time.Second) // a goroutine that has not ended by now is in a deadlock
					t.Logf("%d servers: %d connects, at most %d in 5 s", len(list), len(s.dials), s.most(5*time.Second))
					if n := s.most(5 * time.Second); n > 20 {
						t.Errorf("%d servers: %d connects in 5 s: %v", len(list), n, s.dials[:min(len(s.dials), 40)])
					}
					// The attempts become rarer, and continue: another server of the list may be
					// healthy.
					if n := len(s.dials); n < 8 || n > 75 {
						t.Errorf("%d servers: %d connects in a minute", len(list), n)
					}
				})
			})
		}
	}
}

func TestEachServerIsTriedAtOnceWhenAConnectionBreaks(t *testing.T) {
	list := []string{"a:1", "b:1", "c:1"}
	for _, test := range []struct {
		name     string
		down     bool // all servers are down for a minute
		serving  func(used, other string) []string
		attempts int           // at most, until there is a connection again; 0 for any number
		within   time.Duration // after the servers serve again
	}{
		{"all are healthy", false, func(string, string) []string { return list }, 1, 0},
		{"one alone is healthy", false, func(_, other string) []string { return []string{other} }, 2, 0},
		{"only the one whose connection broke is healthy", false, func(used, _ string) []string { return []string{used} }, 3, 0},
		{"all come back after a minute", true, func(string, string) []string { return list }, 0, 10 * time.Second / 6},
		{"one comes back after a minute", true, func(_, other string) []string { return []string{other} }, 0, 3 * 10 * time.Second / 6},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				healthy := serving(10 * time.Second)
				s := newStand(healthy, list...)
				heard := make(chan recipes.ConnectionState, 10)
				c, err := recipes.Connect(t.Context(), list, recipes.WithDialer(s.dial),
					recipes.WithConnectionListener(func(s recipes.ConnectionState) { heard <- s }))
				if err != nil {
					t.Fatal(err)
				}
				for range 3 { // each time from the shortest wait
					time.Sleep(20 * time.Second)
					synctest.Wait()
					before, used := s.attempts()
					other := list[(slices.Index(list, used)+1)%len(list)]
					if test.down {
						s.serve(nil)
						s.breaks()
						time.Sleep(time.Minute)
					}
					at := time.Now()
					s.serve(healthy, test.serving(used, other)...)
					s.breaks()
					for state := range heard {
						if state == recipes.ConnReconnected {
							break
						}
					}
					if took := time.Since(at); took > test.within {
						t.Errorf("it took %v", took)
					}
					if after, _ := s.attempts(); test.attempts > 0 && after-before > test.attempts {
						t.Errorf("it took %d attempts", after-before)
					}
					s.serve(healthy, list...)
				}
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}

// TestAWaitBetweenAttemptsEndsAtOnce ends calls that are blocked by a wait between two attempts
// to connect, by their context and by Close, and checks Close itself.
func TestAWaitBetweenAttemptsEndsAtOnce(t *testing.T) {
	silent := func(conn net.Conn) { _, _ = io.Copy(io.Discard, conn) }
	for name, now := range map[string]func(net.Conn){"between attempts": nil, "in an attempt": silent} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				for _, patience := range []time.Duration{30 * time.Second, 30*time.Second + time.Millisecond, 31 * time.Second} {
					s := newStand(now, "a:1")
					ctx, cancel := context.WithTimeout(t.Context(), patience)
					began := time.Now()
					_, err := recipes.Connect(ctx, []string{"a:1"}, recipes.WithDialer(s.dial))
					cancel()
					if took := time.Since(began); took != patience || !errors.Is(err, context.DeadlineExceeded) {
						t.Errorf("Connect returned after %v: %v", took, err)
					}
					s.breaks()
					time.Sleep(2 * time.Second)
				}
				s := newStand(serving(10*time.Second), "a:1")
				c, err := recipes.Connect(t.Context(), []string{"a:1"}, recipes.WithDialer(s.dial))
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Second)
				s.serve(now, "a:1")
				s.breaks()
				time.Sleep(time.Minute)
				m := recipes.NewMutex(c, "/lock")
				ctx, cancel := context.WithTimeout(t.Context(), time.Second)
				defer cancel()
				began := time.Now()
				if _, err := m.Acquire(ctx); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
					t.Errorf("Acquire returned after %v: %v", time.Since(began), err)
				}
				done := make(chan error)
				go func() {
					_, err := m.Acquire(t.Context())
					done <- err
				}()
				synctest.Wait()
				began = time.Now()
				before, _ := s.attempts()
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
				if err := <-done; !errors.Is(err, recipes.ErrClosed) {
					t.Errorf("the acquire of a closed client: %v", err)
				}
				// go-zookeeper's own Close may take a second.
				if took := time.Since(began); took > time.Second {
					t.Errorf("Close took %v", took)
				}
				if after, _ := s.attempts(); after != before {
					t.Errorf("%d attempts after Close", after-before)
				}
			})
		})
	}
}

func TestABadJuteMaxBufferIsRefused(t *testing.T) {
	for _, size := range []int{-1, 0, 4095, 1<<30 + 1} {
		if _, err := recipes.Connect(t.Context(), []string{"a:1"}, recipes.WithJuteMaxBuffer(size)); !errors.Is(err, recipes.ErrBadOption) {
			t.Errorf("%d: %v", size, err)
		}
	}
	connect(t, addrsOf(t), recipes.WithJuteMaxBuffer(4096)) // the least
}

func TestAReplyMayBeAsLargeAsJuteMaxBuffer(t *testing.T) {
	const standard, slack = 1<<20 - 1, 1 << 10
	for _, test := range []struct {
		name    string
		size    int
		options []recipes.Option
		taken   bool
	}{
		{"a node of the largest size", standard + slack, nil, true},
		{"more than that", standard + slack + 1, nil, false},
		{"more, where the servers have more", 3 << 20, []recipes.Option{recipes.WithJuteMaxBuffer(3 << 20)}, true},
		{"as much, where the servers have less", standard, []recipes.Option{recipes.WithJuteMaxBuffer(1 << 16)}, false},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newStand(serving(10*time.Second, frame(make([]byte, test.size))), "a:1")
				c, err := recipes.Connect(t.Context(), []string{"a:1"}, append(test.options, recipes.WithDialer(s.dial))...)
				if err != nil {
					t.Fatal(err)
				}
				time.Sleep(20 * time.Second)
				const asked = 1 // connects that ask for the servers' least session timeout
				if n, _ := s.attempts(); (n == asked+1) != test.taken {
					t.Errorf("%d connections", n)
				}
				if err := c.Close(t.Context()); err != nil {
					t.Error(err)
				}
				s.breaks()
			})
		})
	}
}

// When a server answers that the session has ended, the client connects again at once.
func TestTheNextSessionIsAskedForAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		e := zktest.Start(t)
		dials := make(chan time.Time, 100)
		c, err := recipes.Connect(t.Context(), e.Servers()[:1], recipes.WithDialer(func(ctx context.Context, network, addr string) (net.Conn, error) {
			dials <- time.Now()
			return e.Client("client").DialContext(ctx, network, addr)
		}))
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = c.Close(context.Background()) }()
		time.Sleep(time.Minute)
		for len(dials) > 0 {
			<-dials
		}
		e.Client("client").Expire()
		time.Sleep(time.Minute)
		if len(dials) != 2 { // one that is told of the end, and one for the next session
			t.Fatalf("it connects %d times", len(dials))
		}
		first, second := <-dials, <-dials
		if waits := second.Sub(first); waits >= 5*time.Millisecond { // the shortest wait otherwise
			t.Errorf("it waits %v", waits)
		}
	})
}
