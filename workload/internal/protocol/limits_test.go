package protocol_test

import (
	"reflect"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/zkverify/zkverify/workload/internal/protocol"
)

// The text of a line that is kept is bounded in every field, a new one too.
func TestALineOfAnyTextsKeepsNoMoreThanItsBounds(t *testing.T) {
	long := strings.Repeat("ü", 1<<19) // cut in the middle of a character, perhaps
	texts := 0
	for i := range reflect.TypeFor[protocol.Line]().NumField() {
		var l protocol.Line
		field := reflect.ValueOf(&l).Elem().Field(i)
		switch field.Interface().(type) {
		case string:
			field.SetString(long)
		case []byte:
			field.SetBytes([]byte(long))
		case []string:
			field.Set(reflect.ValueOf(append(make([]string, 5000), long)))
			field.Index(0).SetString(long)
		case *protocol.Hosts:
			field.Set(reflect.ValueOf(&protocol.Hosts{Description: long}))
		default:
			continue
		}
		texts++
		name := reflect.TypeFor[protocol.Line]().Field(i).Name
		if err := l.Bound(); err != nil {
			continue // refused
		}
		kept, err := protocol.Encode(l)
		if err != nil || len(kept) > 30_000 || !utf8.Valid(kept) {
			t.Errorf("%s: %d bytes are kept, %v", name, len(kept), err)
		}
		if !strings.Contains(string(kept), "bytes more)") {
			t.Errorf("%s: it does not show that text is missing", name)
		}
	}
	if texts < 9 {
		t.Errorf("%d fields with texts were looked at", texts)
	}
	short := protocol.Line{Error: "no luck", Session: "0x1", Lock: "lock-0", Stacks: []string{"a"}}
	before, _ := protocol.Encode(short)
	if err := short.Bound(); err != nil {
		t.Error(err)
	}
	if after, _ := protocol.Encode(short); string(after) != string(before) {
		t.Errorf("%s became %s", before, after)
	}
}

func TestAWorkerMaySayWhatItIsAskedAndSomeMore(t *testing.T) {
	now := time.Now()
	event, answer := protocol.Line{Event: protocol.SaySession}, protocol.Line{ID: 1}
	for name, row := range map[string]struct {
		each  func(f *protocol.Flow, i int) error // the i-th line
		fails bool
	}{
		"answers": {func(f *protocol.Flow, _ int) error {
			f.Asked()
			return f.Said(answer, 200, now)
		}, false},
		"twenty events for each command": {func(f *protocol.Flow, i int) error {
			if i%20 == 0 {
				f.Asked()
			}
			return f.Said(event, 200, now)
		}, false},
		"a hundred events a second": {func(f *protocol.Flow, i int) error {
			return f.Said(event, 200, now.Add(time.Duration(i)*10*time.Millisecond))
		}, false},
		"events for nothing": {func(f *protocol.Flow, _ int) error { return f.Said(event, 200, now) }, true},
		"answers of a MiB":   {func(f *protocol.Flow, _ int) error { f.Asked(); return f.Said(answer, 1<<20, now) }, true},
		"150 events a second": {func(f *protocol.Flow, i int) error {
			return f.Said(event, 200, now.Add(time.Duration(i)*time.Second/150))
		}, true},
		"30 events for a command": {func(f *protocol.Flow, i int) error {
			if i%30 == 0 {
				f.Asked()
			}
			return f.Said(event, 200, now)
		}, true},
	} {
		var f protocol.Flow
		var err error
		for i := 0; i < 100_000 && err == nil; i++ {
			err = row.each(&f, i)
		}
		if (err != nil) != row.fails {
			t.Errorf("%s: %v", name, err)
		}
	}
}
