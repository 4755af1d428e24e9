package histories

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"
)

// EncodeEDN writes h as a Jepsen history, one map a line.
//
// Operations have Jepsen's keys :type, :process, :f, :time, :value (of reads
// and writes) and :error; all other fields have keys in the namespace
// zkverify. The header, and events that Jepsen does not know, are written as
// :info of the :nemesis, which Jepsen's checkers ignore.
func EncodeEDN(w io.Writer, h *History) error {
	return EncodeAs(w, ".edn", h.Header, each(h.Events))
}

func encodeEDN(b *bufio.Writer, h *Header, events iter.Seq2[*Event, error]) error {
	header, err := jsonObject(h)
	if err != nil {
		return err
	}
	fmt.Fprint(b, "{:type :info, :process :nemesis, :f :header, :time 0, :zkverify/header ")
	writeEDN(b, header)
	fmt.Fprintln(b, "}")
	for e, err := range events {
		if err != nil {
			return err
		}
		if err := encodeEDNEvent(b, e); err != nil {
			return err
		}
	}
	return nil
}

func encodeEDNEvent(b *bufio.Writer, e *Event) error {
	fields, err := jsonObject(e)
	if err != nil {
		return err
	}
	isOp := slices.Contains([]Type{Invoke, OK, Fail, Info}, e.Type)
	delete(fields, "type")
	delete(fields, "time")
	if isOp {
		fmt.Fprintf(b, "{:type :%s, :process %d, :f :%s, :time %d, :value ", e.Type, e.Process, e.Op, int64(e.Time))
		if e.Op == Read || e.Op == Write {
			fmt.Fprintf(b, "%d", e.Value)
			delete(fields, "value")
		} else {
			fmt.Fprint(b, "nil")
		}
		delete(fields, "process")
		delete(fields, "op")
	} else {
		fmt.Fprintf(b, "{:type :info, :process :nemesis, :f :%s, :time %d, :value nil, :zkverify/event :%s", e.Type, int64(e.Time), e.Type)
	}
	for _, k := range slices.Sorted(maps.Keys(fields)) {
		fmt.Fprintf(b, ", :%s%s ", ednSpace, k)
		writeEDN(b, fields[k])
	}
	_, err = fmt.Fprintln(b, "}")
	return err
}

// jsonObject returns v as a JSON object, with exact numbers.
func jsonObject(v any) (map[string]any, error) {
	raw, err := json.Marshal(v)
	if err != nil {
		return nil, err
	}
	d := json.NewDecoder(bytes.NewReader(raw))
	d.UseNumber()
	var m map[string]any
	err = d.Decode(&m)
	return m, err
}

// writeEDN writes a JSON value as EDN. Keys of maps are strings: the keys of
// options and parameters may not be valid keywords.
func writeEDN(b *bufio.Writer, v any) {
	switch v := v.(type) {
	case nil:
		fmt.Fprint(b, "nil")
	case map[string]any:
		fmt.Fprint(b, "{")
		for i, k := range slices.Sorted(maps.Keys(v)) {
			if i > 0 {
				fmt.Fprint(b, ", ")
			}
			writeString(b, k)
			fmt.Fprint(b, " ")
			writeEDN(b, v[k])
		}
		fmt.Fprint(b, "}")
	case []any:
		fmt.Fprint(b, "[")
		for i, e := range v {
			if i > 0 {
				fmt.Fprint(b, " ")
			}
			writeEDN(b, e)
		}
		fmt.Fprint(b, "]")
	case string:
		writeString(b, v)
	default: // json.Number, bool
		fmt.Fprint(b, v)
	}
}

// writeString writes a string with the escapes that every EDN reader knows.
func writeString(b *bufio.Writer, s string) {
	b.WriteByte('"') //nolint:errcheck // a bufio.Writer keeps its error for Flush
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		switch {
		case r == '"' || r == '\\':
			fmt.Fprintf(b, `\%c`, r)
		case r == '\n':
			fmt.Fprint(b, `\n`)
		case r == '\t':
			fmt.Fprint(b, `\t`)
		case r == '\r':
			fmt.Fprint(b, `\r`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(b, `\u%04x`, r)
		default:
			fmt.Fprintf(b, "%c", r)
		}
	}
	b.WriteByte('"') //nolint:errcheck // as above
}

// ednSpace is the namespace of the keys that Jepsen does not know.
const ednSpace = "zkverify/"
