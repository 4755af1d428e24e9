package servers

import (
	"context"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/zkverify/zkverify/ensemble"
	"github.com/zkverify/zkverify/histories"
)

// answering is a server whose answers a test decides. A silent one takes connections and writes
// nothing.
type answering struct {
	net.Listener

	mu     sync.Mutex
	answer string
	open   []net.Conn
}

const (
	saysNothing = ""
	hangsUp     = "hang up"
	elects      = "This ZooKeeper instance is not currently serving requests\n"
	leads       = "Zookeeper version: 3.8.0-x, built on y\nZxid: 0x100000000\nMode: leader\nNode count: 5\n"
	follows     = "Zookeeper version: 3.8.0-x, built on y\nZxid: 0x100000000\nMode: follower\nNode count: 5\n"
	newer       = "Zookeeper version: 3.9.6-x, built on y\nZxid: 0x100000000\nMode: follower\nNode count: 5\n"
	refuses     = "srvr is not executed because it is not in the whitelist.\n"
	learns      = "Zookeeper version: 3.8.0-x, built on y\nMode: something new\n"
)

func listen(t *testing.T, answer string) *answering {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &answering{Listener: l, answer: answer}
	done := make(chan struct{})
	t.Cleanup(func() {
		l.Close()
		<-done
		for _, c := range s.open {
			c.Close()
		}
	})
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			s.serve(c)
		}
	}()
	return s
}

func (s *answering) serve(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.answer == saysNothing {
		s.open = append(s.open, c)
		return
	}
	defer c.Close()
	if s.answer == hangsUp {
		return
	}
	_, _ = io.ReadFull(c, make([]byte, 4))
	_, _ = io.WriteString(c, s.answer)
}

func (s *answering) say(answer string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.answer = answer
}

// watchServers watches one server until the test ends, and returns the events that are
// recorded.
func watchServers(t *testing.T, addr string, idle time.Duration) (<-chan histories.Event, <-chan struct{}) {
	t.Helper()
	seen, over := make(chan histories.Event, 100), make(chan struct{})
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(func() {
		cancel()
		<-over
	})
	watch := Watch{every: time.Millisecond, patient: time.Second, record: func(e histories.Event) { seen <- e }, idle: func() time.Duration { return idle }, knows: func(int64) {}}
	go func() {
		defer close(over)
		watch.Run(ctx, []ensemble.Server{{ID: 2, Addr: addr}})
	}()
	return seen, over
}

func TestWhatAServerIsIsOnRecordWheneverItChanges(t *testing.T) {
	s := listen(t, follows)
	seen, _ := watchServers(t, s.Addr().String(), 0)
	for _, c := range []struct {
		answer string
		want   histories.ServerState
	}{
		{follows, histories.Following}, {elects, histories.Electing}, {leads, histories.Leading}, {saysNothing, histories.Silent},
		{leads, histories.Leading}, {hangsUp, histories.Down}, {follows, histories.Following},
	} {
		s.say(c.answer)
		e := <-seen
		if e.Type != histories.ServerSeen || e.Process != -1 || e.Server.ID != 2 || e.Server.State != c.want {
			t.Fatalf("it answers %q: on record is %+v", c.answer, e)
		}
	}
	s.Close()
	if e := <-seen; e.Server.State != histories.Down {
		t.Errorf("when it has gone, on record is %+v", e.Server)
	}
	if len(seen) > 0 {
		t.Errorf("more is on record: %+v", (<-seen).Server)
	}
}

func TestTheVersionOfAServerIsOnRecordWheneverItChanges(t *testing.T) {
	s := listen(t, follows)
	seen, _ := watchServers(t, s.Addr().String(), 0)
	for _, c := range []struct{ answer, want string }{{follows, "3.8.0"}, {leads, ""}, {elects, ""}, {follows, ""}, {newer, "3.9.6"}, {elects, ""}, {newer, ""}, {follows, "3.8.0"}} {
		s.say(c.answer)
		if e := <-seen; e.Server.Version != c.want {
			t.Fatalf("it answers %q: on record is %+v, want version %q", c.answer, e.Server, c.want)
		}
	}
}

func TestWhatAServerIsIsOnRecordAgainWhenNothingElseIs(t *testing.T) {
	s := listen(t, follows)
	seen, _ := watchServers(t, s.Addr().String(), serverIdle)
	var last histories.ServerState // a busy machine may make it silent for a moment
	for again := 0; again < 3; {
		e := <-seen
		if e.Server.State == last {
			again++
		}
		last = e.Server.State
	}
}

func TestAServerThatDoesNotAllowTheQuestionIsLeftAlone(t *testing.T) {
	s := listen(t, refuses)
	seen, over := watchServers(t, s.Addr().String(), 0)
	<-over
	if len(seen) > 0 {
		t.Errorf("on record is %+v", (<-seen).Server)
	}
}

func TestARoleThatHistoriesDoNotKnowIsNotMadeUp(t *testing.T) {
	s := listen(t, learns)
	seen, _ := watchServers(t, s.Addr().String(), 0)
	s.say(leads)
	if e := <-seen; e.Server.State != histories.Leading {
		t.Errorf("on record is %+v", e.Server)
	}
}
