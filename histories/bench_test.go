package histories

import (
	"bytes"
	"testing"
	"time"
)

func BenchmarkDecodeOfAMinute(b *testing.B) {
	h := sample()
	h.Events = nil
	for i := range 50_000 {
		e := Event{Time: time.Duration(2 * i), Type: Invoke, Process: i % 10, Op: Acquire, Lock: "orders", Owner: "client"}
		h.Events = append(h.Events, e)
		e.Time, e.Type, e.Token, e.Session, e.Depth = e.Time+1, OK, Token{Zxid: int64(i)}, "0x0123456789abcdef", 1
		h.Events = append(h.Events, e)
	}
	var buf bytes.Buffer
	if err := Encode(&buf, h); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Decode(bytes.NewReader(buf.Bytes())); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkRecordOfAnInvokeAndItsCompletion(b *testing.B) {
	r, err := Create(b.TempDir()+"/h.jsonl", Header{})
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		for _, typ := range []Type{Invoke, OK} {
			if _, err := r.Record(Event{Type: typ, Op: Acquire, Lock: "orders"}); err != nil {
				b.Fatal(err)
			}
		}
	}
	if err := r.Close(); err != nil {
		b.Fatal(err)
	}
}
