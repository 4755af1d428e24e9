package service_test

import (
	"bytes"
	"errors"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/zkverify/zkverify/histories/service"
)

func TestWhatIsWrittenIsRead(t *testing.T) {
	l := &service.Log{
		Header:   service.Header{Version: service.Version, History: time.Date(2026, 1, 2, 3, 4, 5, 6, time.UTC), Servers: 3, Transactions: 9, Clock: time.Millisecond},
		Sessions: []service.Session{{ID: "0x0000000000000001", Closed: &service.At{Zxid: 9, Time: 5}, Expired: true}, {ID: "0x0000000000000002"}},
		Nodes: []service.Node{
			{Path: "orders/<a>-0000000000", Session: "0x0000000000000001", Created: service.At{Zxid: 3, Time: -1}, Deleted: &service.At{Zxid: 9, Time: 5}, Ended: true},
			{Path: "orders/locks/b-0000000001", Session: "0x0000000000000002", Created: service.At{Zxid: 3, Time: 2}, Deleted: &service.At{Zxid: 4, Time: 3}, By: "0x0000000000000001"},
			{Path: "one-node", Session: "0x0000000000000002", Created: service.At{Zxid: 5, Time: 3}},
			{Path: "orders/c-0000000002", Session: "0x0000000000000002", Created: service.At{Zxid: 5, Time: 3}, Writes: []service.Write{
				{At: service.At{Zxid: 6, Time: 4}, By: "0x0000000000000001"}, {At: service.At{Zxid: 7, Time: 5}, Same: true},
			}},
		},
		Standing: []service.Node{{Path: "barrier", Session: "0x0000000000000001", Created: service.At{Zxid: 2, Time: 1}}},
		Parents: []service.Node{
			{Path: "orders", Session: "0x0000000000000001", Created: service.At{Zxid: 2}, Used: &service.At{Zxid: 3, Time: -1}},
			{Path: "orders/locks", Session: "0x0000000000000002", Created: service.At{Zxid: 3}, Deleted: &service.At{Zxid: 4, Time: 3}},
		},
	}
	var file bytes.Buffer
	if err := l.Write(&file); err != nil {
		t.Fatal(err)
	}
	got, err := service.Read(&file)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(l, got); d != "" {
		t.Error(d)
	}
	if n := got.Nodes[1]; n.Lock() != "orders" || n.Name() != "locks/b-0000000001" {
		t.Errorf("%q, %q", n.Lock(), n.Name())
	}
	if n := got.Nodes[2]; n.Lock() != "one-node" || n.Name() != "" {
		t.Errorf("a lock that is one node: %q, %q", n.Lock(), n.Name())
	}
}

// endless repeats the text of one record without end.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'a'
	}
	if e.read == 0 {
		copy(p, `{"service":"`)
	}
	e.read += len(p)
	return len(p), nil
}

func TestOfARecordWithoutEndLittleIsRead(t *testing.T) {
	var in endless
	if _, err := service.Read(&in); !errors.Is(err, service.ErrFormat) || !strings.Contains(err.Error(), "longer than 1048576 bytes") || in.read > 8<<20 {
		t.Errorf("%v, after %d bytes", err, in.read)
	}
}

func TestWhatIsNoSuchRecordIsRefused(t *testing.T) {
	const header = `{"service":1,"history":"2026-01-02T03:04:05Z","servers":3,"transactions":1,"clock":1}` + "\n"
	node := func(path, created, deleted string) string {
		return `{"node":{"path":"` + path + `","session":"0x1","created":{"zxid":` + created + `,"at":1},"deleted":{"zxid":` + deleted + `,"at":2}}}` + "\n"
	}
	for name, text := range map[string]string{
		"nothing":                              "",
		"a history":                            `{"zkverify":4,"started":"2026-01-02T03:04:05Z"}` + "\n",
		"one of a later version":               strings.Replace(header, ":1,", ":2,", 1),
		"half a line":                          header + `{"node":{"path":`,
		"nodes that are out of order":          header + node("a/x", "5", "6") + node("a/y", "4", "7"),
		"parents that are out of order":        header + strings.ReplaceAll(node("a/x", "5", "6")+node("a", "4", "7"), "node", "parent"),
		"a node that was deleted before":       header + node("a/x", "5", "4"),
		"a node that has no lock":              header + node("/x", "5", "6"),
		"a record that is too long":            header + node(strings.Repeat("a", 3<<20), "5", "6"),
		"a header that is too long":            strings.Repeat(" ", 3<<20) + header,
		"a clock that is off by less than 0 s": strings.Replace(header, `"clock":1`, `"clock":-1`, 1),
	} {
		if l, err := service.Read(strings.NewReader(text)); !errors.Is(err, service.ErrFormat) {
			t.Errorf("%s: %+v, %v; want ErrFormat", name, l, err)
		}
	}
	if _, err := service.ReadFile(filepath.Join(t.TempDir(), service.FileName)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%v; want that there is none", err)
	}
}

// A file of an older build has no containers, and a reader of that build skips the lines of a kind
// that it does not know.
func TestALineOfAnotherKindIsSkipped(t *testing.T) {
	l, err := service.Read(strings.NewReader(`{"service":1,"history":"2026-01-02T03:04:05Z"}` + "\n" + `{"other":{"path":"a"}}` + "\n" + `{"session":{"id":"0x1"}}`))
	if err != nil || len(l.Sessions) != 1 {
		t.Errorf("%+v, %v", l, err)
	}
}
