//go:build linux

package locks

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// BenchmarkHistory reads the log of b.N transactions: two hundred clients take a thousand locks of
// which some are busy, with sessions that expire and nodes of no lock in between. Ten million
// transactions are 2 GB: -benchtime 10000000x.
func BenchmarkHistory(b *testing.B) {
	dir := b.TempDir()
	generate(b, filepath.Join(dir, "log.100000001"), b.N)
	b.ResetTimer()
	con := &Console{Out: io.Discard, Err: io.Discard}
	c := &historyCmd{Dirs: []string{dir}, Top: 10}
	if err := c.Run(b.Context(), con); err != nil {
		b.Fatal(err)
	}
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	b.ReportMetric(float64(u.Maxrss)/1e3, "MB-peak")
}

// generate writes a log of n transactions.
func generate(b *testing.B, path string, n int) {
	b.Helper()
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	out := bufio.NewWriterSize(f, 1<<20)
	fmt.Fprint(out, "ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00")
	const locks, clients = 1000, 200
	var queues [locks][]string
	owners := make(map[string]int64)
	random := rand.New(rand.NewPCG(1, 2))
	var buffer bytes.Buffer
	write := func(i int, session int64, cxid int32, op wire.Op, body []byte) {
		buffer.Reset()
		appendTxn(&buffer, session, cxid, 1<<32+int64(i)+1, nightFall.Add(time.Duration(i)*time.Millisecond), op, body)
		out.Write(buffer.Bytes()) //nolint:errcheck // Flush returns it
	}
	for i := range n {
		lock := int(float64(locks) * random.Float64() * random.Float64()) // some are busier
		queue := queues[lock]
		switch client := int64(random.IntN(clients)) + 1; {
		case i%5 == 4:
			write(i, client, 1, wire.Create, createBody(fmt.Sprintf("/orders/order-%d", i), "{}", false))
		case len(queue) > random.IntN(8):
			write(i, owners[queue[0]], 1, wire.Delete, text(queue[0]))
			delete(owners, queue[0])
			queues[lock] = queue[1:]
		default:
			node := fmt.Sprintf("/locks/service/lock-%d/%s", lock, curator(i, "lock-"))
			write(i, client, 1, wire.Create, createBody(node, fmt.Sprintf("web-%d/4711", client), true))
			owners[node], queues[lock] = client, append(queue, node)
		}
	}
	if err := out.Flush(); err != nil {
		b.Fatal(err)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
}
