package histories

import (
	"bytes"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Whatever a reader accepts, encoding and decoding it again gives the same
// history; whatever it refuses, it refuses with a FormatError.
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

// slowly reads a history by encoding/json alone, and wants what the fast reader has read.
func slowly(t *testing.T, data []byte, h *History) {
	t.Helper()
	for i, line := range bytes.Split(data, []byte("\n"))[1:] {
		if i == len(h.Events) {
			return // what is left is the stump of a line, or nothing
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

// streamed wants a file that is in order to be read as events alone as it is read as a whole.
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
