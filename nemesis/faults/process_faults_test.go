package faults

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"testing"
	"time"

	"github.com/zkverify/zkverify/nemesis/fault"

	"github.com/zkverify/zkverify/ensemble"
)

func (s servers) testKillServer(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "kill-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	if s.ensemble.Running(r.client.Linked) || r.answers(300*time.Millisecond) {
		t.Error("the server lives")
	}
	s.heals(t, f)
}

func (s servers) testKillLeader(t *testing.T) {
	leader, r := s.settled(t)
	f, _ := r.begin(t, "kill-leader")
	if s.ensemble.Running(leader) {
		t.Error("the leader lives")
	}
	s.serve(t, leader%3+1, true)
	if now, err := s.ensemble.Leader(t.Context()); err == nil && now == leader {
		t.Error("it still leads")
	}
	s.heals(t, f)
}

func (s servers) testPauseServer(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "pause-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	conn, err := net.DialTimeout("tcp", s.ensemble.Servers()[r.client.Linked-1].Addr, time.Second)
	if err != nil {
		t.Error("a paused server accepts connections:", err)
	} else {
		conn.Close()
	}
	if !s.ensemble.Running(r.client.Linked) || r.answers(300*time.Millisecond) {
		t.Error("the server answers, or has died")
	}
	s.heals(t, f)
}

func (s servers) testLoseQuorum(t *testing.T) {
	_, r := s.settled(t)
	f, _ := r.begin(t, "lose-quorum")
	if len(f.Servers) != 2 {
		t.Errorf("it hits %v of three", f.Targets)
	}
	for id := range 3 {
		s.serve(t, id+1, false)
	}
	s.heals(t, f)
}

func (s servers) testRestartServer(t *testing.T) {
	_, r := s.settled(t)
	conn, err := net.DialTimeout("tcp", s.ensemble.Servers()[r.client.Linked-1].Addr, time.Second)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	r.begin(t, "restart-server", fault.Pick{Server: fault.Server(fmt.Sprint(r.client.Linked))})
	_ = conn.SetReadDeadline(time.Now().Add(time.Second))
	if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("its connection has not ended: %v", err)
	}
	asking, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if status, _, err := ensemble.AskStatus(asking, s.ensemble.Servers()[r.client.Linked-1]); err != nil || !status.Serving() {
		t.Errorf("it does not serve: %+v, error %v", status, err)
	}
}

func (s servers) testRollingRestart(t *testing.T) {
	_, r := s.settled(t)
	var before []net.Conn
	for _, server := range s.ensemble.Servers() {
		conn, err := net.DialTimeout("tcp", server.Addr, time.Second)
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		before = append(before, conn)
	}
	r.begin(t, "rolling-restart")
	for i, conn := range before {
		_ = conn.SetReadDeadline(time.Now().Add(time.Second))
		if _, err := conn.Read(make([]byte, 1)); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the connection to server %d has not ended: %v", i+1, err)
		}
	}
	s.allServe(t)
}
