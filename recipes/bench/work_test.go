package main

import (
	"encoding/binary"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

func TestAGuardNoticesALockThatDoesNotLock(t *testing.T) {
	type step struct{ writer, leaves bool }
	enter, leave := step{}, step{leaves: true}
	enterW, leaveW := step{writer: true}, step{writer: true, leaves: true}
	for name, c := range map[string]struct {
		work  work
		steps []step
		good  bool // whether the last step is allowed; the earlier steps are
	}{
		"a mutex lets one in":                   {work{kind: mutex}, []step{enter, leave, enter}, true},
		"a mutex lets no second in":             {work{kind: mutex}, []step{enter, enter}, false},
		"a semaphore lets its permits in":       {work{kind: semaphore, permits: 2}, []step{enter, enter}, true},
		"a semaphore lets no more in":           {work{kind: semaphore, permits: 2}, []step{enter, enter, enter}, false},
		"readers share":                         {work{kind: readWrite}, []step{enter, enter, enter}, true},
		"a writer comes when readers have left": {work{kind: readWrite}, []step{enter, leave, enterW, leaveW, enterW}, true},
		"a writer excludes readers":             {work{kind: readWrite}, []step{enterW, enter}, false},
		"a reader excludes writers":             {work{kind: readWrite}, []step{enter, enterW}, false},
		"a writer excludes writers":             {work{kind: readWrite}, []step{enterW, enterW}, false},
	} {
		g := newGuard(c.work)
		for i, s := range c.steps {
			if s.leaves {
				g.leave(s.writer)
				continue
			}
			if allowed, last := g.enter(s.writer) == nil, i == len(c.steps)-1; allowed != (c.good || !last) {
				t.Errorf("%s: step %d allowed: %v", name, i, allowed)
			}
		}
	}
}

func TestContendersAreSpreadOverSessionsAndServers(t *testing.T) {
	w := work{servers: []string{"a", "b"}, sessions: 3}
	for contender, want := range []string{"a", "b", "a", "a", "b"} {
		if got := w.server(contender); got != want {
			t.Errorf("contender %d at %s, want %s", contender, got, want)
		}
	}
}

func TestAnswersOfDrivers(t *testing.T) {
	if d, err := parseAnswer("ok 1500000"); d != 1500*time.Microsecond || err != nil {
		t.Error(d, err)
	}
	if _, err := parseAnswer("error it broke"); err == nil || err.Error() != "it broke" {
		t.Error(err)
	}
	for _, bad := range []string{"", "ok", "ok x", "ok -1", "Exception in thread main"} {
		if _, err := parseAnswer(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}

func TestWhatAProgramSaidFitsInALine(t *testing.T) {
	if got := oneLine("  Exception in main\n\tat X.java\n"); got != "Exception in main at X.java" {
		t.Errorf("%q", got)
	}
	if got := oneLine(strings.Repeat("word\n", 1000)); len(got) > 310 || strings.Contains(got, "\n") {
		t.Errorf("%d bytes: %q", len(got), got)
	}
}

func TestRequestsAreCountedHoweverTheyAreCut(t *testing.T) {
	frame := func(xid int32, rest int) []byte {
		f := binary.BigEndian.AppendUint32(nil, uint32(4+rest))
		f = binary.BigEndian.AppendUint32(f, uint32(xid))
		return append(f, make([]byte, rest)...)
	}
	var stream []byte
	for _, f := range [][]byte{frame(0, 40), frame(1, 100), frame(xidPing, 4), frame(2, 0), frame(3, 17)} {
		stream = append(stream, f...)
	}
	for step := 1; step <= len(stream); step++ {
		var n atomic.Int64
		f := frames{count: &n}
		for at := 0; at < len(stream); at += step {
			piece := stream[at:min(at+step, len(stream))]
			f.see(piece)
		}
		if n.Load() != 4 {
			t.Errorf("pieces of %d bytes: %d requests, want 4", step, n.Load())
		}
	}
}

func TestWatchesAreReadFromTheServersAnswer(t *testing.T) {
	if n, err := parseWatches("2 connections watching 14 paths\nTotal watches:17\n"); n != 17 || err != nil {
		t.Error(n, err)
	}
	if _, err := parseWatches("This ZooKeeper instance is not currently serving requests"); err == nil {
		t.Error("that is no number")
	}
}
