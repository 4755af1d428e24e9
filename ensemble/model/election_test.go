package model

import (
	"testing"
	"time"
)

// A server comes back. The leader has won in round 8, with the vote of this server, and
// its one follower has ended its election in round 7.
func TestAServerJoinsALeaderAndAFollowerOfDifferentRounds(t *testing.T) {
	for name, c := range map[string]struct {
		epoch int64 // named by the follower
		joins bool
	}{
		"of one epoch": {5, true},
		"of two":       {4, false},
	} {
		t.Run(name, func(t *testing.T) {
			e := newElection(2, []int{1, 2, 3}, 800*time.Millisecond)
			e.Look(0, 0x500000001, 5)
			e.Receive(time.Millisecond, Notification{1, Following, Ballot{3, 0x400000007, c.epoch}, 7})
			e.Receive(time.Millisecond, Notification{3, Leading, Ballot{3, 0x400000009, 5}, 8})
			state, vote := e.State()
			if joins := state == Following && vote.Leader == 3; joins != c.joins {
				t.Errorf("the server is %v, and votes for %d", state, vote.Leader)
			}
		})
	}
}

// A vote of a server that looks for a leader counts for a leading server only if it is
// the same in every field.
func TestALookingServersVoteIsComparedAsAWhole(t *testing.T) {
	e := newElection(2, []int{1, 2, 3}, 800*time.Millisecond)
	e.Look(0, 1, 0)
	e.Receive(time.Millisecond, Notification{1, Looking, Ballot{3, 9, 0}, 1})
	e.Receive(time.Millisecond, Notification{3, Leading, Ballot{3, 8, 0}, 1})
	if state, _ := e.State(); state != Looking {
		t.Errorf("the server is %v", state)
	}
}
