package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/zkverify/zkverify/internal/wait"
	"github.com/zkverify/zkverify/nemesis/fault"

	"github.com/zkverify/zkverify/ensemble"
)

func (s servers) testOneWay(t *testing.T, lost string) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "one-way", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked)), Params: map[string]string{"lost": lost}})
	s.serve(t, r.client.Linked, false)
	s.heals(t, f)
}

func (s servers) testIsolateServer(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "isolate-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	s.serve(t, r.client.Linked, false)
	s.heals(t, f)
}

func (s servers) testPartition(t *testing.T) {
	leader, r := s.settled(t)
	elsewhere, err := s.network.Link(t.Context(), t.Name()+"-elsewhere", s.ensemble.Servers()[leader-1].Addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = elsewhere.Close() })
	r.client.Links[leader] = elsewhere
	f, _ := r.begin(t, "partition", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	asking, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	if _, _, err := ensemble.AskStatus(asking, ensemble.Server{Addr: elsewhere.Addr()}); err == nil {
		t.Error("the client reaches a server of the majority")
	}
	s.serve(t, r.client.Linked, false)
	s.serve(t, leader, true)
	s.heals(t, f)
	if _, _, err := ensemble.AskStatus(t.Context(), ensemble.Server{Addr: elsewhere.Addr()}); err != nil {
		t.Error("healed, the client does not reach the majority:", err)
	}
}

func (s servers) testBridge(t *testing.T) {
	leader, r := s.settled(t)
	f, _ := r.begin(t, "bridge", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	cut := 6 - leader - r.client.Linked
	s.serve(t, cut, false)
	if !r.answers(5 * time.Second) {
		t.Error("the bridge does not serve")
	}
	s.heals(t, f)
}

func (s servers) testCutQuorum(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "cut-quorum")
	if len(f.Servers) != 3 {
		t.Errorf("it hits %v of three", f.Targets)
	}
	for id := range 3 {
		s.serve(t, id+1, false)
	}
	for id, server := range s.ensemble.Servers() {
		if !s.ensemble.Running(id + 1) {
			t.Errorf("server %d does not run", id+1)
		}
		conn, err := net.DialTimeout("tcp", server.Addr, time.Second)
		if err != nil {
			t.Errorf("server %d accepts no connection: %v", id+1, err)
			continue
		}
		// What a client of a new session sends first.
		_, _ = conn.Write(append([]byte{0, 0, 0, 44}, make([]byte, 44)...))
		_ = conn.SetReadDeadline(time.Now().Add(5 * time.Second))
		if n, err := conn.Read(make([]byte, 1)); n > 0 || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("server %d leaves a connection open, or answers: %d bytes, %v", id+1, n, err)
		}
		conn.Close()
	}
	s.heals(t, f)
}

func (s servers) testSlowPeers(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "slow-peers", fault.Pick{Params: map[string]string{"latency": "100ms", "jitter": "0s"}})
	start := time.Now()
	if _, err := r.conn.Set(r.node, nil, -1); err != nil || time.Since(start) < 200*time.Millisecond {
		t.Errorf("a write took %v, error %v; want at least a trip to the leader and back, 100 ms each", time.Since(start), err)
	}
	s.heals(t, f)
}

func (s servers) testStallPeers(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "stall-peers", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	done := make(chan error, 1)
	go func() { done <- r.conn.Delete(r.node, -1) }() // ends with the connection at the latest
	select {
	case err := <-done:
		t.Errorf("a write through the follower is answered: %v", err)
	case <-time.After(200 * time.Millisecond):
	}
	if err := f.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err != nil {
		t.Errorf("the write that was held back: %v", err)
	}
	s.heals(t, f)
}

func (s servers) testIsolateLeader(t *testing.T) {
	old, err := s.ensemble.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	r := s.client(t, s.follower(t))
	r.begin(t, "isolate-leader")
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	for {
		if now, err := s.ensemble.Leader(ctx); err == nil && now != old {
			break
		}
		if !wait.For(ctx, 50*time.Millisecond) {
			t.Fatal("no other leader")
		}
	}
}
