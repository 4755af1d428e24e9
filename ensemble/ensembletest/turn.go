package ensembletest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// turn is the right to load the machine, which one test has at a time. Tests that start
// JVMs or containers keep their time limits one after the other, and do not in parallel.
// Tests on simulated servers go on meanwhile.
var turn = struct {
	mine chan struct{} // holds one value while a test of this process has the turn
	had  sync.Map      // the names of the tests that have it

	mu   sync.Mutex
	uses int      // of the machine's turn by this process
	file *os.File // locked, while there are uses
}{mine: make(chan struct{}, 1)}

// Turn waits until no other test on this machine has the turn, and gives it to t and its
// subtests until t ends. A test that starts JVMs, containers or many processes takes it,
// after it has called t.Parallel.
func Turn(t testing.TB) {
	t.Helper()
	for name := t.Name(); name != ""; name = parent(name) {
		if _, has := turn.had.Load(name); has {
			return
		}
	}
	turn.mine <- struct{}{}
	end, err := TakeTurn()
	if err != nil {
		<-turn.mine
		t.Fatal(err)
	}
	turn.had.Store(t.Name(), true)
	t.Cleanup(func() {
		turn.had.Delete(t.Name())
		end()
		<-turn.mine
	})
}

// TakeTurn waits until no other process has the machine's turn, and gives it to this
// process until every end function that it returned has been called, once each. It is for
// code outside of tests, such as TestMain.
func TakeTurn() (end func(), err error) {
	turn.mu.Lock()
	defer turn.mu.Unlock()
	if turn.uses == 0 {
		name := filepath.Join(os.TempDir(), fmt.Sprintf("zkverify-tests-%d.lock", os.Getuid()))
		if turn.file, err = os.OpenFile(name, os.O_CREATE|os.O_RDWR, 0o600); err != nil {
			return nil, fmt.Errorf("the turn of tests: %w", err)
		}
		if err := lockFile(turn.file); err != nil {
			return nil, fmt.Errorf("the turn of tests: %s: %w", name, err)
		}
	}
	turn.uses++
	return func() {
		turn.mu.Lock()
		defer turn.mu.Unlock()
		if turn.uses--; turn.uses == 0 {
			_ = turn.file.Close() // which unlocks it
		}
	}, nil
}

// parent returns the name of the test that a subtest is a part of, "" for a top-level
// test.
func parent(name string) string {
	i := strings.LastIndexByte(name, '/')
	return name[:max(i, 0)]
}
