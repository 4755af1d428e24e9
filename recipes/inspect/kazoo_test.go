package inspect_test

import (
	"bufio"
	"bytes"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/zkverify/zkverify/recipes/inspect"
	"github.com/zkverify/zkverify/zktest"
)

// kazooPython returns a Python that has kazoo. Without one it skips the test.
func kazooPython(t *testing.T) string {
	t.Helper()
	for _, python := range []string{"python3", "/usr/bin/python3"} {
		if exec.Command(python, "-c", "import kazoo").Run() == nil {
			return python
		}
	}
	t.Skip("no Python 3 with kazoo here (Debian: sh ensemble/install.sh --kazoo)")
	return ""
}

// kazooLocks makes kazoo take locks until the test ends.
func kazooLocks(t *testing.T, addrs []string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), kazooPython(t), "testdata/kazoo_locks.py", strings.Join(addrs, ","))
	var said bytes.Buffer
	cmd.Stderr = &said
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = in.Close()
		_ = cmd.Wait()
	})
	if line, err := bufio.NewReader(out).ReadString('\n'); line != "ready\n" {
		_ = cmd.Wait()
		t.Fatalf("it says %q, error %v:\n%s", line, err, &said)
	}
}

// TestWhoHoldsALockOfKazoo reads locks that kazoo itself has taken.
func TestWhoHoldsALockOfKazoo(t *testing.T) {
	kazooPython(t)
	servers := zktest.Start(t, zktest.Tick(500*time.Millisecond))
	kazooLocks(t, servers.Client("kazoo").Addrs())
	operator := servers.Client("operator")
	conn, _, err := zk.Connect(servers.Servers(), 10*time.Second, zk.WithDialer(operator.DialTimeout), zk.WithLogger(silent{}))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	found, err := inspect.Find(t.Context(), conn, []string{"/"})
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range found.Locks {
		l := &found.Locks[i]
		got = append(got, l.Path+" "+queueText(l))
		for _, c := range l.Queue {
			if c.Library != inspect.LibraryKazoo || c.Session == 0 {
				t.Errorf("%s is of %q, session %#x", c.Path, c.Library, c.Session)
			}
		}
		if l.Path == "/kazoo/pool" && l.Size != 2 {
			t.Errorf("the semaphore is of size %d", l.Size)
		}
	}
	want := []string{
		"/kazoo/barrier doublebarrier: member one",
		"/kazoo/lock mutex: *lock one lock two",
		"/kazoo/pool semaphore: *permit one *permit two lock b'three'", // kazoo writes its bytes as text
		"/kazoo/rw readwrite: *read one *read two write three",
	}
	slices.Sort(got)
	if !slices.Equal(got, want) && !slices.Equal(got, swapped(want)) {
		t.Errorf("found\n%q, want\n%q", got, want)
	}
}

// swapped returns want with the permits of kazoo in the other order: their names are
// random.
func swapped(want []string) []string {
	other := slices.Clone(want)
	other[2] = "/kazoo/pool semaphore: *permit two *permit one lock b'three'"
	return other
}
