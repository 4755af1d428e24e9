package service_test

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/histories/service"
)

// A record that the reader accepts is the same after writing and reading it again. The reader
// refuses any other input with an error that matches ErrFormat.
func FuzzRead(f *testing.F) {
	var file bytes.Buffer
	l := &service.Log{
		Header:   service.Header{History: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Servers: 3, Transactions: 9, Clock: time.Millisecond},
		Sessions: []service.Session{{ID: "0x1", Closed: &service.At{Zxid: 9, Time: 5}, Expired: true}, {ID: "0x2"}},
		Nodes:    []service.Node{{Path: "orders/<a>-0", Session: "0x1", Created: service.At{Zxid: 3, Time: -1}, Deleted: &service.At{Zxid: 9, Time: 5}, Ended: true}},
		Parents:  []service.Node{{Path: "orders", Session: "0x1", Created: service.At{Zxid: 2}, Used: &service.At{Zxid: 3, Time: -1}}},
	}
	if err := l.Write(&file); err != nil {
		f.Fatal(err)
	}
	f.Add(file.Bytes())
	f.Add([]byte(`{"service":1,"history":"2026-01-02T03:04:05Z"}{"node":{"path":"a"}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		l, err := service.Read(bytes.NewReader(data))
		if err != nil {
			if !errors.Is(err, service.ErrFormat) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		last := int64(-1)
		for i := range l.Nodes {
			n := &l.Nodes[i]
			if n.Lock() == "" || n.Created.Zxid < last || n.Deleted != nil && n.Deleted.Zxid < n.Created.Zxid {
				t.Fatalf("node %d is out of order, or has no lock: %+v", i, n)
			}
			last = n.Created.Zxid
		}
		var b bytes.Buffer
		if err := l.Write(&b); err != nil {
			t.Fatal(err)
		}
		again, err := service.Read(&b)
		if err != nil {
			t.Fatalf("%v\n%s", err, b.Bytes())
		}
		if d := cmp.Diff(l, again); d != "" {
			t.Fatal(d)
		}
	})
}
