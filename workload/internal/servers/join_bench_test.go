package servers

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/zkverify/zkverify/checker"
	"github.com/zkverify/zkverify/checker/verdict"
	"github.com/zkverify/zkverify/histories"
	"github.com/zkverify/zkverify/histories/service"
	"github.com/zkverify/zkverify/workload/lock"
)

// Three servers with 100,000 transactions each, of 50,000 grants: their logs are read, the log
// of the service is written and read again, and the history is judged together with it.
func BenchmarkJoin(b *testing.B) {
	const grants, locks, sessions = 50_000, 10, 20
	l := newLogger()
	h := &histories.History{Header: histories.Header{
		Version: histories.Version, SessionTimeout: 2 * time.Second, Promises: histories.Promises{Tokens: true, FIFO: true, FirstNode: true},
	}}
	add := func(ms int, e histories.Event) {
		e.Time = time.Duration(ms) * time.Millisecond
		h.Events = append(h.Events, e)
	}
	for i := range grants {
		name, process, ms := fmt.Sprintf("lock-%d", i%locks), i%sessions, 10*i
		session := uint64(1 + process)
		path := fmt.Sprintf("/run/locks/%s/_c_6a1fd44f-a006-4cf2-a38d-77e8aa852b84-lock-%010d", name, i/locks)
		e := histories.Event{Process: process, Lock: name, Op: histories.Acquire, Type: histories.Invoke}
		add(ms, e)
		l.create(ms+2, session, path)
		e.Type, e.Token, e.Depth, e.Session = histories.OK, histories.Token{Zxid: l.zxid}, 1, lock.SessionName(int64(session))
		add(ms+4, e)
		e = histories.Event{Process: process, Lock: name, Op: histories.Release, Type: histories.Invoke, Depth: 1}
		add(ms+5, e)
		l.delete(ms+6, session, path)
		e.Type = histories.OK
		add(ms+8, e)
	}
	dirs := l.servers(b, 3)
	for b.Loop() {
		s, err := Service(b.Context(), dirs, "/run/locks", "/run/sessions", Clock{origin: origin})
		if err != nil {
			b.Fatal(err)
		}
		var file bytes.Buffer
		if err := s.Write(&file); err != nil {
			b.Fatal(err)
		}
		if s, err = service.Read(&file); err != nil {
			b.Fatal(err)
		}
		r, err := checker.Check(b.Context(), h, checker.WithEngine(checker.Interval), checker.WithService(s))
		if err != nil {
			b.Fatal(err)
		}
		if v := r.Verdict(checker.FirstNode); v.Outcome != verdict.Holds {
			b.Fatal(v)
		}
		if n, _ := r.Verdict(checker.FirstNode).Figure("grants compared with the servers' order"); n != grants {
			b.Fatalf("%v of %d grants are found in the logs", n, grants)
		}
	}
}
