package histories

import (
	"bytes"
	"io"
	"reflect"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
)

// again encodes and decodes h, and fails the test unless the result is the same. A list that is
// empty means the same as none.
func again(t *testing.T, h *History, encode func(io.Writer, *History) error) {
	t.Helper()
	decode := Decode
	if reflect.ValueOf(encode).Pointer() == reflect.ValueOf(EncodeEDN).Pointer() {
		decode = DecodeEDN
	}
	var b bytes.Buffer
	if err := encode(&b, h); err != nil {
		t.Fatal(err)
	}
	got, err := decode(&b)
	if err != nil {
		t.Fatalf("%v\n%s", err, b.Bytes())
	}
	want := *h
	want.Truncated, want.Note, want.Lines = false, "", nil
	if d := cmp.Diff(&want, got, cmpopts.EquateEmpty()); d != "" {
		t.Fatal(d)
	}
}
