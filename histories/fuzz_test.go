package histories

import (
	"bytes"
	"errors"
	"testing"
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
	})
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
