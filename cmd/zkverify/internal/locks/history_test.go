package locks

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"hash/adler32"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble/model/wire"
)

// server writes the files of a server. Each transaction is one second after the one before.
type server struct {
	*testing.T
	dir  string
	log  bytes.Buffer
	zxid int64
	now  time.Time
}

// nightFall is the time of the first transaction.
var nightFall = time.Date(2026, 1, 2, 3, 0, 0, 0, time.UTC)

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{T: t, dir: t.TempDir(), zxid: 1 << 32, now: nightFall}
	s.log.WriteString("ZKLG\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00")
	return s
}

// txn appends a transaction.
func (s *server) txn(session int64, cxid int32, op wire.Op, body []byte) {
	s.zxid++
	s.now = s.now.Add(time.Second)
	appendTxn(&s.log, session, cxid, s.zxid, s.now, op, body)
}

func appendTxn(log *bytes.Buffer, session int64, cxid int32, zxid int64, at time.Time, op wire.Op, body []byte) {
	x := binary.BigEndian.AppendUint64(nil, uint64(session))
	x = binary.BigEndian.AppendUint32(x, uint32(cxid))
	x = binary.BigEndian.AppendUint64(x, uint64(zxid))
	x = binary.BigEndian.AppendUint64(x, uint64(at.UnixMilli()))
	x = append(binary.BigEndian.AppendUint32(x, uint32(op)), body...)
	head := binary.BigEndian.AppendUint64(nil, uint64(adler32.Checksum(x)))
	log.Write(append(binary.BigEndian.AppendUint32(head, uint32(len(x))), x...))
	log.WriteByte('B')
}

func text(s string) []byte { return append(binary.BigEndian.AppendUint32(nil, uint32(len(s))), s...) }

func createBody(path, data string, ephemeral bool) []byte {
	body := append(text(path), text(data)...)
	body = append(body, 0, 0, 0, 1, 0, 0, 0, 31)
	body = append(append(body, text("world")...), text("anyone")...)
	if ephemeral {
		return append(body, 1, 0, 0, 0, 7)
	}
	return append(body, 0, 0, 0, 0, 7)
}

func (s *server) create(session int64, path string) {
	s.txn(session, 1, wire.Create, createBody(path, fmt.Sprintf("client-%d", session), true))
}
func (s *server) del(session int64, path string) { s.txn(session, 2, wire.Delete, text(path)) }

// write writes the log and returns the folder.
func (s *server) write() string {
	s.T.Helper()
	name := fmt.Sprintf("log.%x", binary.BigEndian.Uint64(s.log.Bytes()[16+12+12:]))
	if err := os.WriteFile(filepath.Join(s.dir, name), append(s.log.Bytes(), make([]byte, 50)...), 0o600); err != nil {
		s.T.Fatal(err)
	}
	return s.dir
}

func history(t *testing.T, args ...string) answer {
	t.Helper()
	var out, said output
	return runCommand(t, t.Context(), &Console{Out: &out, Err: &said}, append([]string{"history"}, args...)...)
}

// told returns the stays that history tells of, in the order in which they ended, in short.
func told(t *testing.T, args ...string) (stays []string) {
	t.Helper()
	a := history(t, append([]string{"--json"}, args...)...)
	if a.status != 0 {
		t.Fatalf("exit status %d: %s", a.status, a.err)
	}
	lines := strings.Split(strings.TrimSpace(a.out), "\n")
	for _, line := range lines[:len(lines)-1] {
		var s stayJSON
		if err := json.Unmarshal([]byte(line), &s); err != nil {
			t.Fatal(err)
		}
		text := fmt.Sprintf("%s %s %s: %s waited %.0f", s.Lock, s.Recipe, s.Kind, s.Data, s.Waited)
		if s.Granted != nil {
			text += fmt.Sprintf(" held %.0f", s.Held)
		}
		text += ", " + string(s.End)
		if s.By != "" && s.By != s.Session {
			text += " by " + s.By
		}
		if s.Overtook > 0 {
			text += fmt.Sprintf(", overtook %d", s.Overtook)
		}
		stays = append(stays, text)
	}
	return stays
}

func TestHistoryKnowsTheRulesOfTheRecipes(t *testing.T) {
	kazoo := func(n int) string { return fmt.Sprintf("%032x", n) }
	for name, test := range map[string]struct {
		happens func(s *server)
		want    []string
	}{
		"a mutex, and a waiter that gives up": {func(s *server) {
			a, b, c := "/m/"+curator(1, "lock-"), "/m/"+curator(2, "lock-"), "/m/"+curator(3, "lock-")
			s.create(1, a) // 1 s
			s.create(2, b) // 2 s
			s.create(3, c) // 3 s
			s.del(2, b)    // 4 s
			s.del(1, a)    // 5 s
			s.del(3, c)    // 6 s
		}, []string{"/m mutex lock: client-2 waited 2, released", "/m mutex lock: client-1 waited 0 held 4, released", "/m mutex lock: client-3 waited 2 held 1, released"}},
		"the ends of holds": {func(s *server) {
			for i := range int64(4) {
				s.create(i+1, "/m/"+curator(int(i), "lock-"))
			}
			s.txn(1, 0, wire.CloseSession, nil) // as before 3.6
			s.txn(2, 9, wire.CloseSession, append([]byte{0, 0, 0, 1}, text("/m/"+curator(1, "lock-"))...))
			s.del(9, "/m/"+curator(2, "lock-"))
		}, []string{"/m mutex lock: client-1 waited 0 held 4, session expired", "/m mutex lock: client-2 waited 3 held 1, session closed",
			"/m mutex lock: client-3 waited 3 held 1, deleted by 0x9", "/m mutex lock: client-4 waited 3 held 0, still there"}},
		"readers and a writer": {func(s *server) {
			r1, r2, w, r3 := "/rw/"+curator(1, "__READ__"), "/rw/"+curator(2, "__READ__"), "/rw/"+curator(3, "__WRIT__"), "/rw/"+curator(4, "__READ__")
			s.create(1, r1) // 1
			s.create(2, r2) // 2
			s.create(3, w)  // 3
			s.create(4, r3) // 4
			s.del(1, r1)    // 5
			s.del(2, r2)    // 6
			s.del(3, w)     // 7
			s.del(4, r3)    // 8
		}, []string{"/rw readwrite read: client-1 waited 0 held 4, released", "/rw readwrite read: client-2 waited 0 held 4, released",
			"/rw readwrite write: client-3 waited 3 held 1, released", "/rw readwrite read: client-4 waited 3 held 1, released"}},
		"a downgrade is in order": {func(s *server) {
			w, r, next := "/rw/"+curator(1, "__WRIT__"), "/rw/_c_00000009-1111-4222-8333-444444444444-__READ__0000000001", "/rw/"+curator(2, "__WRIT__")
			s.create(1, w)
			s.create(2, next)
			s.create(1, r)
			s.del(1, w)
			s.del(1, r)
			s.del(2, next)
		}, []string{"/rw readwrite write: client-1 waited 0 held 3, released", "/rw readwrite read: client-1 waited 0 held 2, released", "/rw readwrite write: client-2 waited 3 held 1, released"}},
		"a semaphore of Curator": {func(s *server) {
			l1, l2, p1, p2 := "/s/locks/"+curator(1, "lock-"), "/s/locks/"+curator(2, "lock-"), "/s/leases/"+curator(1, "lease-"), "/s/leases/"+curator(2, "lease-")
			s.create(1, l1) // 1
			s.create(1, p1) // 2
			s.del(1, l1)    // 3: there was room
			s.create(2, l2) // 4
			s.create(2, p2) // 5
			s.del(1, p1)    // 6
			s.del(2, l2)    // 7: now there is room
			s.del(2, p2)    // 8
		}, []string{"/s semaphore permit: client-1 waited 2 held 3, released", "/s semaphore permit: client-2 waited 3 held 1, released"}},
		"a semaphore of Curator that gives up": {func(s *server) {
			l1, p1 := "/s/locks/"+curator(1, "lock-"), "/s/leases/"+curator(1, "lease-")
			s.create(1, l1)
			s.create(1, p1)
			s.del(1, p1)
			s.del(1, l1)
		}, []string{"/s semaphore permit: client-1 waited 2, released"}},
		"a semaphore of kazoo": {func(s *server) {
			l1, p1 := "/s-__lock__/"+kazoo(1)+"__lock__0000000001", "/s/"+kazoo(2)
			s.create(1, l1)
			s.create(1, p1)
			s.del(1, l1)
			s.del(1, p1)
		}, []string{"/s semaphore permit: client-1 waited 2 held 1, released"}},
		"a mutex in a folder named locks": {func(s *server) {
			s.create(1, "/app/locks/"+curator(1, "lock-"))
			s.del(1, "/app/locks/"+curator(1, "lock-"))
		}, []string{"/app/locks mutex lock: client-1 waited 0 held 1, released"}},
		"an election": {func(s *server) {
			s.create(1, "/e/"+curator(1, "latch-"))
			s.create(2, "/e/"+curator(2, "latch-"))
			s.del(1, "/e/"+curator(1, "latch-"))
		}, []string{"/e election candidate: client-1 waited 0 held 2, released", "/e election candidate: client-2 waited 1 held 0, still there"}},
		"a number ahead of those that were there": {func(s *server) {
			s.create(1, "/m/lock-2147483647")
			s.create(2, "/m/lock-0000000005")
			s.create(3, "/m/lock--2147483648")
			s.del(1, "/m/lock-2147483647")
			s.del(2, "/m/lock-0000000005")
		}, []string{"/m mutex lock: client-1 waited 0 held 3, released", "/m mutex lock: client-2 waited 0 held 3, released, overtook 1", "/m mutex lock: client-3 waited 2 held 0, still there"}},
		"nodes of no lock": {func(s *server) {
			s.create(1, "/q/item-0000000001")
			s.create(1, "/users/"+kazoo(7))
			s.create(1, "/m/"+curator(1, "lock-"))
		}, []string{"/m mutex lock: client-1 waited 0 held 0, still there"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t)
			test.happens(s)
			if got := told(t, s.write()); !slices.Equal(got, test.want) {
				t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(test.want, "\n"))
			}
		})
	}
}
