package txnlog_test

import (
	"bufio"
	"encoding/binary"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

// writeCreates writes a log of n transactions: creates and deletes of nodes as locks have them.
func writeCreates(t testing.TB, path string, n int) {
	t.Helper()
	f, err := os.Create(path)
	must(t, err)
	w := bufio.NewWriterSize(f, 1<<20)
	_, err = w.Write([]byte{0x5a, 0x4b, 0x4c, 0x47, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0})
	must(t, err)
	var x, head []byte
	for i := range n {
		op := wire.Create
		if i%2 == 1 {
			op = wire.Delete
		}
		node := fmt.Sprintf("/locks/lock-%d/_c_%08x-1111-4222-8333-444444444444-lock-%010d", i/2%1000, i/2, i/2/1000)
		x = binary.BigEndian.AppendUint64(x[:0], uint64(0x1000000+i/2%100))
		x = binary.BigEndian.AppendUint32(x, uint32(i))
		x = binary.BigEndian.AppendUint64(x, uint64(1<<32+i+1))
		x = binary.BigEndian.AppendUint64(x, uint64(1_700_000_000_000+i))
		x = binary.BigEndian.AppendUint32(x, uint32(op))
		x = binary.BigEndian.AppendUint32(x, uint32(len(node)))
		x = append(x, node...)
		if op == wire.Create {
			x = append(x, 0, 0, 0, 10)
			x = append(x, "web-1/4711"...)
			x = append(x, 0, 0, 0, 1, 0, 0, 0, 31, 0, 0, 0, 5)
			x = append(x, "world\x00\x00\x00\x06anyone\x01\x00\x00\x00\x01"...)
		}
		head = binary.BigEndian.AppendUint64(head[:0], uint64(adler32.Checksum(x)))
		head = binary.BigEndian.AppendUint32(head, uint32(len(x)))
		_, err = w.Write(append(append(head, x...), 'B'))
		must(t, err)
	}
	must(t, w.Flush())
	must(t, f.Close())
}

func BenchmarkReadLog(b *testing.B) {
	path := filepath.Join(b.TempDir(), "log.100000001")
	writeCreates(b, path, b.N)
	b.ReportAllocs()
	b.ResetTimer()
	n := 0
	for _, err := range txnlog.ReadLog(path) {
		must(b, err)
		n++
	}
	if n != b.N {
		b.Fatal(n)
	}
}
