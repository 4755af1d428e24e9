package transactions

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/workload/folder"
)

const (
	first  = "0x00000000000000a1"
	second = "0x00000000000000b2"
)

func at(ms, zxid int) service.At {
	return service.At{Zxid: int64(zxid), Time: time.Duration(ms) * time.Millisecond}
}

func deletedAt(ms, zxid int) *service.At { x := at(ms, zxid); return &x }

// runFolder makes the folder of a run in which process 1 still held a lock after its session had
// expired.
func runFolder(t *testing.T, history time.Time) string {
	t.Helper()
	dir := t.TempDir()
	started := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	recorder, err := histories.Create(filepath.Join(dir, folder.History), histories.Header{Started: started, Recipe: "mutex"})
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range []histories.Event{
		{Type: histories.Invoke, Process: 1, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.OK, Process: 1, Op: histories.Acquire, Lock: "orders", Token: histories.Token{Zxid: 0x41}, Depth: 1, Session: first},
		{Type: histories.Invoke, Process: 2, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.Enqueued, Process: 2, Lock: "orders", Token: histories.Token{Zxid: 0x42}, Session: second},
		{Type: histories.Fail, Process: 2, Op: histories.Acquire, Lock: "orders"},
		{Type: histories.Lost, Process: 1, Lock: "orders", Session: first},
	} {
		if _, err := recorder.Record(e); err != nil {
			t.Fatal(err)
		}
	}
	if err := recorder.Close(); err != nil {
		t.Fatal(err)
	}
	if history.IsZero() {
		history = started
	}
	l := &service.Log{
		Header:   service.Header{History: history, Servers: 3, Transactions: 9},
		Sessions: []service.Session{{ID: first, Closed: deletedAt(30, 0x44), Expired: true}},
		Nodes: []service.Node{
			{Path: "other/x-0000000000", Session: second, Created: at(1, 0x40), Deleted: deletedAt(2, 0x45), By: first},
			{Path: "orders/a-0000000000", Session: first, Created: at(10, 0x41), Deleted: deletedAt(30, 0x44), Ended: true},
			{Path: "orders/b-0000000001", Session: second, Created: at(20, 0x42), Deleted: deletedAt(25, 0x43)},
		},
	}
	if err := folder.WriteFile(filepath.Join(dir, service.FileName), l.Write); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestTheNodesOfALockArePrintedBesideWhatClientsBelieved(t *testing.T) {
	dir := runFolder(t, time.Time{})
	held := "  0x41  0.010000 s  " + first + `  process 1  "a-0000000000", believed to hold the lock from 0.`
	ended := "(lost), was deleted at 0.030000 s by 0x44, with its session, which the servers had expired\n"
	gaveUp := "  0x42  0.020000 s  " + second + `  process 2  "b-0000000001", no grant on record, was deleted at 0.025000 s by 0x43, by its own session` + "\n"
	other := "other\n  0x40  0.001000 s  " + second + `  "x-0000000000", no grant on record, was deleted at 0.002000 s by 0x45, by session ` + first + "\n"
	for name, test := range map[string]struct {
		command Command
		parts   []string // in this order
		without string
	}{
		"a lock":    {Command{Lock: "orders"}, []string{"orders\n", held, ended, gaveUp}, "other"},
		"all":       {Command{}, []string{"orders\n", held, ended, gaveUp, other}, "nothing that is not there"},
		"a session": {Command{Lock: "orders", Session: "0xb2"}, []string{"orders\n", gaveUp}, "0x41"},
	} {
		t.Run(name, func(t *testing.T) {
			test.command.Dirs = []string{dir}
			got, err := run(t, test.command)
			if err != nil {
				t.Fatal(err)
			}
			rest := got
			for _, part := range test.parts {
				_, after, found := strings.Cut(rest, part)
				if !found {
					t.Fatalf("%q is missing in\n%s", part, got)
				}
				rest = after
			}
			if rest != "" || strings.Contains(got, test.without) {
				t.Errorf("%q is too much in\n%s", rest, got)
			}
		})
	}
}

func TestWhatIsNoLockOfARunIsRefused(t *testing.T) {
	dir := runFolder(t, time.Time{})
	damaged := runFolder(t, time.Time{})
	if err := os.WriteFile(filepath.Join(damaged, service.FileName), []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	alone := runFolder(t, time.Time{})
	if err := os.Remove(filepath.Join(alone, folder.History)); err != nil {
		t.Fatal(err)
	}
	for name, test := range map[string]struct {
		command Command
		says    string
	}{
		"another lock":       {Command{Dirs: []string{dir}, Lock: "parcels"}, "no lock parcels"},
		"a path":             {Command{Dirs: []string{dir}, Path: "/orders"}, "use --lock"},
		"JSON":               {Command{Dirs: []string{dir}, JSON: true}, service.FileName},
		"no session":         {Command{Dirs: []string{dir}, Session: "mine"}, `--session "mine" is no session`},
		"another run":        {Command{Dirs: []string{runFolder(t, time.Unix(1, 0))}}, "of another run"},
		"a damaged record":   {Command{Dirs: []string{damaged}}, service.ErrFormat.Error()},
		"no history":         {Command{Dirs: []string{alone}}, "no such file"},
		"a lock of a server": {Command{Dirs: []string{life(t)}, Lock: "orders"}, "use --path"},
		"compared":           {Command{Dirs: []string{life(t), life(t)}, Lock: "orders", Compare: true}, "whole logs"},
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
