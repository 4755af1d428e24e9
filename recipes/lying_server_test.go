package recipes_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/zkverify/zkverify/recipes"
	"github.com/zkverify/zkverify/zktest"
)

// liar changes a server's answers. lie gets whole answers to requests that succeeded, without
// their lengths, and returns the answers for the client.
type liar struct {
	through func(ctx context.Context, network, addr string) (net.Conn, error)
	lie     func(op int32, frame []byte) []byte
}

func (l liar) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	conn, err := l.through(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	return &lyingConn{Conn: conn, lie: l.lie, ops: make(map[int32]int32)}, nil
}

type lyingConn struct {
	net.Conn
	lie  func(op int32, frame []byte) []byte
	left bytes.Buffer
	told bool // the answer to the connect request

	mu  sync.Mutex
	ops map[int32]int32 // by xid
}

func (c *lyingConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.ops[int32(binary.BigEndian.Uint32(p[4:]))] = int32(binary.BigEndian.Uint32(p[8:]))
	c.mu.Unlock()
	return c.Conn.Write(p)
}

func (c *lyingConn) Read(p []byte) (int, error) {
	if c.left.Len() == 0 {
		var size [4]byte
		if _, err := io.ReadFull(c.Conn, size[:]); err != nil {
			return 0, err
		}
		frame := make([]byte, binary.BigEndian.Uint32(size[:]))
		if _, err := io.ReadFull(c.Conn, frame); err != nil {
			return 0, err
		}
		if c.told && binary.BigEndian.Uint32(frame[12:]) == 0 {
			c.mu.Lock()
			op, ok := c.ops[int32(binary.BigEndian.Uint32(frame))]
			c.mu.Unlock()
			if ok {
				frame = c.lie(op, frame)
			}
		}
		c.told = true
		c.left.Write(binary.BigEndian.AppendUint32(nil, uint32(len(frame))))
		c.left.Write(frame)
	}
	return c.left.Read(p)
}

// lies returns the false answers for each operation whose answer has lengths, by the kind of the
// error.
func lies() map[string]func(op int32, frame []byte) []byte {
	const header = 16
	all := make(map[string]func(int32, []byte) []byte)
	lengthAt := func(ops []int32, at int, n uint32) func(int32, []byte) []byte {
		return func(op int32, frame []byte) []byte {
			for _, of := range ops {
				if of == op && len(frame) >= header+at+4 {
					binary.BigEndian.PutUint32(frame[header+at:], n)
				}
			}
			return frame
		}
	}
	for _, n := range []uint32{math.MaxInt32, 250_000_000, math.MaxUint32, 1 << 31} {
		all[fmt.Sprintf("%d names", int32(n))] = lengthAt([]int32{opChildren, 8}, 0, n)
		all[fmt.Sprintf("a text of %d bytes", int32(n))] = lengthAt([]int32{opCreate, opGetData, opSync, opCreateContainer}, 0, n)
		all[fmt.Sprintf("a text of %d bytes in a transaction", int32(n))] = func(op int32, frame []byte) []byte {
			if len(frame) > header+4 && binary.BigEndian.Uint32(frame[header:]) != opCreate {
				return frame
			}
			return lengthAt([]int32{opMulti}, 9, n)(op, frame)
		}
	}
	all["an end in the middle"] = func(_ int32, frame []byte) []byte { return frame[:header+(len(frame)-header)/2] }
	all["a transaction of four bytes"] = func(op int32, frame []byte) []byte {
		if op == opMulti {
			return frame[:header+4]
		}
		return frame
	}
	for _, zxid := range []int64{0, -9, math.MinInt64} {
		all[fmt.Sprintf("a creation by transaction %d", zxid)] = func(op int32, frame []byte) []byte {
			if op == opCreate || op == opMulti {
				binary.BigEndian.PutUint64(frame[4:], uint64(zxid))
			}
			return frame
		}
	}
	return all
}

// A server may answer with lengths far beyond the data that it sends. go-zookeeper would allocate
// memory for them. The connection ends before it does so, no lease depends on a false answer, and
// the lock can be acquired when the server's answers are correct again.
func TestAServerThatLies(t *testing.T) {
	for name, lie := range lies() {
		for _, times := range []int64{1, math.MaxInt64} {
			t.Run(fmt.Sprintf("%s, %d times", name, times), func(t *testing.T) {
				var before, after runtime.MemStats
				runtime.ReadMemStats(&before)
				synctest.Test(t, func(t *testing.T) { lockAtALiar(t, lie, times) })
				runtime.ReadMemStats(&after)
				if took := after.TotalAlloc - before.TotalAlloc; took > 256<<20 {
					t.Errorf("%d MB were allocated", took>>20)
				}
			})
		}
	}
}

func lockAtALiar(t *testing.T, lie func(op int32, frame []byte) []byte, times int64) {
	e := zktest.Start(t)
	var told, connects atomic.Int64
	l := liar{
		through: func(ctx context.Context, network, addr string) (net.Conn, error) {
			connects.Add(1)
			return e.Client("client").DialContext(ctx, network, addr)
		},
		lie: func(op int32, frame []byte) []byte {
			if told.Load() >= times {
				return frame
			}
			lied := lie(op, bytes.Clone(frame))
			if !bytes.Equal(lied, frame) {
				told.Add(1)
			}
			return lied
		},
	}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	c, err := recipes.Connect(ctx, e.Servers(), recipes.WithDialer(l.dial), recipes.WithSessionTimeout(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
		defer cancel()
		_ = c.Close(ctx)
	}()
	for name, lock := range map[string]interface {
		Acquire(context.Context) (*recipes.Lease, error)
	}{"a mutex": recipes.NewMutex(c, "/mutex"), "a semaphore": recipes.NewSemaphore(c, "/semaphore", 2)} {
		lease, err := lock.Acquire(ctx)
		switch {
		case err == nil && lease.Token().Zxid <= 0:
			t.Errorf("%s: the token %v", name, lease.Token())
		case err == nil:
			_ = lease.Release(ctx)
		case told.Load() < times && ctx.Err() != nil && errors.Is(err, context.DeadlineExceeded): // the server still sends false answers
		default:
			t.Errorf("%s: %v", name, err)
		}
	}
	// The wait grows to a sixth of the timeout, half of it random.
	if n := connects.Load(); n > 130 {
		t.Errorf("%d connects in 20 s", n)
	}
}
