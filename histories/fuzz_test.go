package histories

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// A history that a reader accepts is the same after encoding and decoding it
// again. A reader refuses any other input with a FormatError.
func FuzzDecode(f *testing.F) {
	for _, h := range []*History{sample(), everyRecipe()} {
		var b bytes.Buffer
		if err := Encode(&b, h); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte(header))
	f.Add([]byte(header + `{"time":1,"type":"invoke","process":0,"op":"acquire","lock":"a"}`))
	f.Add([]byte(header + `{"time":1,"type":"fault-start","process":-1,"fault":{"id":1,"name":"isolate","targets":["server 1"],"processes":[]}}` + "\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := Decode(bytes.NewReader(data))
		if err != nil {
			var fe *FormatError
			if !errors.As(err, &fe) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		again(t, h, Encode)
		again(t, h, EncodeEDN)
		forPorcupine(t, h)
		slowly(t, data, h)
	})
}

// slowly reads a history with encoding/json alone, and fails the test unless the fast reader has
// read the same.
func slowly(t *testing.T, data []byte, h *History) {
	t.Helper()
	for i, line := range bytes.Split(data, []byte("\n"))[1:] {
		if i == len(h.Events) {
			return // the rest is a part of a line, or empty
		}
		e, err := decodeEvent(line)
		if d := cmp.Diff(e, h.Events[i]); err != nil || d != "" {
			t.Fatalf("line %d: %v %s", i+2, err, d)
		}
	}
}

func FuzzEDN(f *testing.F) {
	for _, h := range []*History{sample(), everyRecipe()} {
		var b bytes.Buffer
		if err := EncodeEDN(&b, h); err != nil {
			f.Fatal(err)
		}
		f.Add(b.Bytes())
	}
	f.Add([]byte("{:type :invoke, :f :acquire, :value nil, :process 0, :time 10}\n{:type :ok, :f :acquire, :value nil, :process 0, :time 20}"))
	f.Add([]byte("{:type :ok, :process 0, :f :acquire, :time 1, :zkverify/lock \"m\"}\n{:type :invoke, :process 0, :f :write, :time 2}"))
	f.Add([]byte("[{:type :info :f :start :process :nemesis :time 25}{:type :info :f :kill :process :nemesis :value #{1}}]"))
	f.Add([]byte(`#jepsen.history.Op{:type :invoke, :f :read, :process 0, :value #inst "2020-01-01T00:00:00Z" :lock \[ :error [1 2.5M 7N "\u0041"]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		h, err := DecodeEDN(bytes.NewReader(data))
		streamed(t, data, h, err)
		if err != nil {
			var fe *FormatError
			if !errors.As(err, &fe) {
				t.Fatalf("%T: %v", err, err)
			}
			return
		}
		if err := Validate(h); err != nil {
			t.Fatalf("it read what is not valid: %v", err)
		}
		again(t, h, Encode)
		again(t, h, EncodeEDN)
		forPorcupine(t, h)
	})
}

// streamed fails the test unless a file that is in order, read event by event, gives the history
// that the file as a whole gives.
func streamed(t *testing.T, data []byte, h *History, err error) {
	t.Helper()
	open := func() *foreign {
		s, err := newForeign(formatEDN, bytes.NewReader(data))
		if err != nil {
			return nil
		}
		return s
	}
	first := open()
	if first == nil {
		return
	}
	s := open()
	if !first.ours {
		r, bad := first.survey(As{})
		if bad != nil || !r.ordered {
			return
		}
		s.as(r)
	}
	got, bad := historyOf(s, s.Stream())
	if (bad == nil) != (err == nil) {
		t.Fatalf("as a whole %v, as events %v", err, bad)
	}
	if d := cmp.Diff(h, got); err == nil && d != "" {
		t.Fatal(d)
	}
}

// forPorcupine writes a history that is valid for Porcupine.
func forPorcupine(t *testing.T, h *History) {
	t.Helper()
	var b bytes.Buffer
	if err := EncodePorcupine(&b, h); err != nil {
		t.Fatal(err)
	}
	for _, o := range userOperations(t, b.Bytes()) {
		if o.Return < o.Call || o.ClientId < 0 {
			t.Fatalf("no operation of Porcupine's: %+v", o)
		}
	}
}

// With any options, the operations of a file become valid events or operations of registers, or are
// refused with a FormatError. Reading them into memory gives the same result as reading them one by
// one.
func FuzzForeign(f *testing.F) {
	const locks = "{:type :invoke, :f :acquire, :value [1 nil], :process 0, :time 10}\n{:type :ok, :f :acquire, :value [1 {:client \"a\" :fence 7}], :process 0, :time 20}"
	for _, format := range []format{formatEDN, formatJSON, formatLog} {
		f.Add([]byte(locks), string(format), "", "", "")
		f.Add([]byte("{\"f\":\"cas\",\"type\":\"invoke\",\"process\":\"a\",\"value\":[1,{\"x\":2}]}\n"), string(format), "", "none", "1")
		f.Add([]byte("INFO  jepsen.util - 0\t:invoke\t:txn\t[[:r :x nil] [:w 1 #{2}]]\n:nemesis\t:info\t:kill\tnil\n0\t:ok\t:txn\t[[:r :x 1]]\tnot held\n"), string(format), "multi-register", "", "{:x 1}")
		f.Add([]byte("{:type :invoke, :f :release, :process 0, :permits 2, :key #object[a 0x1 b]}{:type :ok, :f :release, :process 0, :value false}"), string(format), "semaphore", "key", "")
	}
	f.Fuzz(func(t *testing.T, data []byte, kind, model, key, initial string) {
		as := As{Model: model, Key: key, Initial: initial, Size: len(data) % 4, EveryRelease: len(data)%2 == 0}
		open := func() *foreign {
			s, err := newForeign(format(kind), bytes.NewReader(data))
			if err != nil || s.ours {
				formatError(t, err)
				return nil
			}
			return s
		}
		first := open()
		if first == nil {
			return
		}
		r, err := first.survey(as)
		formatError(t, err)
		if err != nil {
			return
		}
		_ = r.String()
		s, whole := open(), open()
		s.as(r)
		formatError(t, whole.inMemory(as))
		if r.register {
			for _, err := range s.Operations() {
				formatError(t, err)
			}
			return
		}
		h, err := historyOf(s, s.Stream())
		formatError(t, err)
		if !r.ordered {
			return
		}
		again, bad := historyOf(whole, whole.Stream())
		if d := cmp.Diff(h, again); (err == nil) != (bad == nil) || d != "" {
			t.Fatalf("one by one %v, in memory %v %s", err, bad, d)
		}
		if err == nil {
			if err := Validate(h); err != nil {
				t.Fatalf("it read what is not valid: %v", err)
			}
		}
	})
}

// formatError fails the test if err is an error other than a FormatError.
func formatError(t *testing.T, err error) {
	t.Helper()
	var fe *FormatError
	if err != nil && !errors.As(err, &fe) {
		t.Fatalf("%T: %v", err, err)
	}
}
