package faults

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
)

func (s servers) testExpireSilence(t *testing.T) {
	r := s.client(t, 1)
	_, start := r.begin(t, "expire-silence")
	// A ping may have been sent a third of the timeout before.
	if took := r.gone(t, 3*r.timeout).Sub(start); took < r.timeout*2/3-300*time.Millisecond || took > r.timeout*4/3 {
		t.Errorf("the session ended after %v; want about %v", took, r.timeout)
	}
}

func (s servers) testExpireSession(t *testing.T) {
	r := s.client(t, 1)
	_, start := r.begin(t, "expire-session")
	if took := r.gone(t, r.timeout).Sub(start); took > r.timeout/2 {
		t.Errorf("the session ended after %v", took)
	}
}

func (s servers) testIsolateHoldersFollower(t *testing.T) {
	server := s.follower(t)
	r := s.client(t, server)
	f, _ := r.begin(t, "isolate-holder-follower")
	if want := fmt.Sprintf("server %d", server); f.Targets[0] != want || f.Servers[0] != server {
		t.Fatalf("it hits %v; want %s", f.Targets, want)
	}
	if !r.answers(300 * time.Millisecond) {
		t.Error("the follower has stopped to answer at once")
	}
	r.gone(t, 3*r.timeout)
}

func (s servers) testIsolateWaitersFollower(t *testing.T) {
	r := s.client(t, s.follower(t))
	r.client.States = []states.State{states.Waiting}
	leader, err := s.ensemble.Leader(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	scene := fault.Scene{World: r, Free: r.Clients(), Everyone: r.Clients(), Leader: leader, Rand: rand.New(rand.NewPCG(1, 1)), Pick: fault.Pick{Aim: fault.AtHolder}, Exact: true}
	if f, err := MakeFollower(scene); !errors.Is(err, fault.ErrNobody) {
		t.Errorf("aimed at a holder, it hits %v, error %v", f.Targets, err)
	}
	scene.Pick.Aim = fault.AtWaiter
	if f, err := MakeFollower(scene); err != nil || !slices.Contains(f.Targets, "client 0") {
		t.Errorf("it hits %v, error %v", f.Targets, err)
	}
}
