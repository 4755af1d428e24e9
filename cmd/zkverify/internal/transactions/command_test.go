package transactions

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"hash/adler32"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/zkverify/zkverify/ensemble/model/wire"
	"github.com/zkverify/zkverify/ensemble/txnlog"
)

// serverDir makes the data folder of a server, with a log of these transactions. Their zxids are
// 1, 2 and so on.
func serverDir(t *testing.T, all ...[]byte) string {
	t.Helper()
	dir := t.TempDir()
	log := []byte{0x5a, 0x4b, 0x4c, 0x47, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0}
	for i, x := range all {
		binary.BigEndian.PutUint64(x[12:], uint64(i+1))
		log = binary.BigEndian.AppendUint64(log, uint64(adler32.Checksum(x)))
		log = binary.BigEndian.AppendUint32(log, uint32(len(x)))
		log = append(append(log, x...), 'B')
	}
	if err := os.Mkdir(filepath.Join(dir, "version-2"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "version-2", "log.1"), log, 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

// txn returns a transaction of a session.
func txn(session uint64, op wire.Op, body []byte) []byte {
	x := binary.BigEndian.AppendUint64(nil, session)
	x = append(x, make([]byte, 4+8)...)
	x = binary.BigEndian.AppendUint64(x, 1_700_000_000_123)
	x = binary.BigEndian.AppendUint32(x, uint32(op))
	return append(x, body...)
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

func lockNode(session uint64, path, data string) []byte {
	body := append(text(path), text(data)...)
	body = append(body, 0, 0, 0, 0, 1, 0, 0, 0, 7) // no ACL, ephemeral, the parent's version
	return txn(session, wire.Create, body)
}

func number(n int32) []byte { return binary.BigEndian.AppendUint32(nil, uint32(n)) }

// part returns an operation of a multi.
func part(op wire.Op, body []byte) []byte {
	return append(number(int32(op)), text(string(body))...)
}

// life makes the data folder of a server on which a contender is granted /l after another
// contender's session has ended.
func life(t *testing.T) string {
	t.Helper()
	closed := append(number(1), text("/l/lock-0")...)
	return serverDir(t,
		txn(0xa1, wire.CreateSession, number(2000)), txn(0xb2, wire.CreateSession, number(2000)),
		lockNode(0xa1, "/l/lock-0", "web-3/4711"), lockNode(0xb2, "/l/lock-1", "\x1b[2J"), lockNode(0xb2, "/lx/lock-0", ""),
		txn(0xb2, wire.ErrorOp, number(-110)),
		txn(0xb2, wire.Multi, slices.Concat(number(2), part(wire.Check, append(text("/m"), number(4)...)), part(wire.Delete, text("/m")))),
		txn(0xa1, wire.CloseSession, closed))
}

func run(t *testing.T, c Command) (string, error) {
	t.Helper()
	var out bytes.Buffer
	err := c.Run(t.Context(), &out)
	return out.String(), err
}

func TestTransactionsArePrinted(t *testing.T) {
	dir := life(t)
	const at = "2023-11-14 22:13:20.123  "
	all := []string{
		"0x1  " + at + "0xa1                create-session with a timeout of 2s",
		"0x2  " + at + "0xb2                create-session with a timeout of 2s",
		"0x3  " + at + `0xa1                create "/l/lock-0" (ephemeral, 10 bytes)`,
		"0x4  " + at + `0xb2                create "/l/lock-1" (ephemeral, 4 bytes)`,
		"0x5  " + at + `0xb2                create "/lx/lock-0" (ephemeral)`,
		"0x6  " + at + "0xb2                request that failed with code -110",
		"0x7  " + at + `0xb2                multi: check "/m" (version 3), delete "/m"`,
		"0x8  " + at + `0xa1                close-session: delete "/l/lock-0"`,
	}
	for name, test := range map[string]struct {
		command Command
		want    []int // of all
	}{
		"all":                  {Command{Dirs: []string{dir}}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"one file":             {Command{Dirs: []string{filepath.Join(dir, "version-2", "log.1")}}, []int{0, 1, 2, 3, 4, 5, 6, 7}},
		"a lock":               {Command{Dirs: []string{dir}, Path: "/l"}, []int{2, 3, 7}},
		"a node":               {Command{Dirs: []string{dir}, Path: "/l/lock-1"}, []int{3}},
		"the root":             {Command{Dirs: []string{dir}, Path: "/"}, []int{2, 3, 4, 6, 7}},
		"a session":            {Command{Dirs: []string{dir}, Session: "0xa1"}, []int{0, 2, 7}},
		"a session at a lock":  {Command{Dirs: []string{dir}, Session: "b2", Path: "/l"}, []int{3}},
		"a session not logged": {Command{Dirs: []string{dir}, Session: "0xff"}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := run(t, test.command)
			var want string
			for _, i := range test.want {
				want += all[i] + "\n"
			}
			if err != nil || got != want {
				t.Errorf("%v\n%swant\n%s", err, got, want)
			}
		})
	}
}

func TestTransactionsArePrintedForPrograms(t *testing.T) {
	got, err := run(t, Command{Dirs: []string{life(t)}, JSON: true, Path: "/l/lock-0"})
	if err != nil {
		t.Fatal(err)
	}
	var first record
	if err := json.Unmarshal([]byte(strings.Split(got, "\n")[0]), &first); err != nil {
		t.Fatal(err)
	}
	if c := first.Changes[0]; first.Zxid != "0x3" || first.Session != "0xa1" || c.Op != "create" || string(c.Data) != "web-3/4711" || !c.Ephemeral {
		t.Errorf("%+v", first)
	}
}

// A log may contain any time.
func TestTimesThatJSONDoesNotHaveAreNull(t *testing.T) {
	for _, millis := range []int64{math.MaxInt64, math.MinInt64, 253402300800000, -62167219200001} {
		strange := txn(0xa1, wire.CreateSession, number(2000))
		binary.BigEndian.PutUint64(strange[8+4+8:], uint64(millis))
		dir := serverDir(t, strange, txn(0xb2, wire.CreateSession, number(-1)))
		got, err := run(t, Command{Dirs: []string{dir}, JSON: true})
		if err != nil || strings.Count(got, "\n") != 2 || !strings.Contains(got, `"time":null`) {
			t.Errorf("%d: %q, %v", millis, got, err)
		}
		if got, err := run(t, Command{Dirs: []string{dir}}); err != nil || strings.Count(got, "\n") != 2 {
			t.Errorf("%d: %q, %v", millis, got, err)
		}
	}
}

func TestLogsAreCompared(t *testing.T) {
	same := life(t)
	got, err := run(t, Command{Dirs: []string{same, life(t), life(t)}, Compare: true})
	if err != nil || got != "the logs of 3 servers do not contradict each other\n" {
		t.Errorf("%q, %v", got, err)
	}
	other := serverDir(t, txn(0xa1, wire.CreateSession, number(2000)), txn(0xc3, wire.CreateSession, number(2000)))
	got, err = run(t, Command{Dirs: []string{same, other, life(t)}, Compare: true})
	if !errors.Is(err, ErrDiffer) || err.Error() != "" || !strings.Contains(got, "the log of server 2 is wrong from zxid 0x2 on") || !strings.Contains(got, "server 2 is "+other) {
		t.Errorf("%q, %v", got, err)
	}
}

func TestWhatIsNoLogIsRefused(t *testing.T) {
	damaged := life(t)
	log := filepath.Join(damaged, "version-2", "log.1")
	content, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	content[40] ^= 1
	if err := os.WriteFile(log, content, 0o600); err != nil {
		t.Fatal(err)
	}
	snapshots := t.TempDir()
	if err := os.WriteFile(filepath.Join(snapshots, "snapshot.1"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	words := filepath.Join(t.TempDir(), "words.txt")
	if err := os.WriteFile(words, []byte("these are only some words"), 0o600); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command Command
		says    string
	}{
		"nothing there":         {Command{Dirs: []string{"/nowhere"}}, "no such file"},
		"an empty folder":       {Command{Dirs: []string{t.TempDir()}}, "no log and no snapshot of ZooKeeper in"},
		"snapshots alone":       {Command{Dirs: []string{snapshots}}, "is there a dataLogDir?"},
		"another file":          {Command{Dirs: []string{words}}, txnlog.ErrNotALog.Error()},
		"a damaged log":         {Command{Dirs: []string{damaged}}, txnlog.ErrDamaged.Error()},
		"no session":            {Command{Dirs: []string{life(t)}, Session: "mine"}, `--session "mine" is no session`},
		"no path":               {Command{Dirs: []string{life(t)}, Path: "locks"}, `--path "locks" is no path`},
		"two servers":           {Command{Dirs: []string{life(t), life(t)}}, "--compare"},
		"one to compare":        {Command{Dirs: []string{life(t)}, Compare: true}, "several servers"},
		"a part to compare":     {Command{Dirs: []string{life(t), life(t)}, Compare: true, Path: "/l"}, "whole logs"},
		"a damaged one of them": {Command{Dirs: []string{life(t), damaged}, Compare: true}, "server 2"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := run(t, test.command)
			var refused Refused
			if !errors.As(err, &refused) || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%v; want %q", err, test.says)
			}
		})
	}
}

func TestAnInterruptEndsThePrinting(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := Command{Dirs: []string{life(t)}}
	if err := c.Run(ctx, new(bytes.Buffer)); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}
