package faults

import (
	"errors"
	"testing"
	"time"

	"github.com/zkverify/zkverify/histories/states"
	"github.com/zkverify/zkverify/nemesis/fault"
)

// holders is a world with a holder linked to each server, and one more to the leader, server 2,
// that gives its lock up when it is cut off.
type holders struct {
	clockWorld
	keeps bool
}

func (h holders) Clients() (all []fault.Client) {
	for i, server := range []int{2, 1, 2, 3} {
		all = append(all, fault.Client{Index: i, Linked: server, Lingers: true, EndsHold: i == 0, States: []states.State{states.Holding}})
	}
	return all
}

func (h holders) Keep(int, time.Duration) bool { return h.keeps }

func TestADeposedLeaderAnswersAHolderThatGoesOn(t *testing.T) {
	kind, err := List().Named("deposed-leader")
	if err != nil {
		t.Fatal(err)
	}
	const draws = 200
	e, hit := withObservers(t, 3, 0), 0
	for draw := range uint32(draws) {
		for _, keeps := range []bool{true, false} {
			s := fault.NewScene(holders{clockWorld{e}, keeps}, kind.Name, fault.Pick{Draw: draw}, nil, true)
			s.Leader = 2
			f, err := kind.Make(s)
			if !keeps {
				if !errors.Is(err, fault.ErrNobody) {
					t.Fatalf("got %v for clients that have just released their locks", err)
				}
				continue
			}
			if err != nil {
				t.Fatal(err)
			}
			if f.Reserves[0] == 2 {
				hit++
			}
		}
	}
	if hit < draws*7/10 { // three in four draws aim, and others may
		t.Errorf("%d of %d faults aim at the holder at the leader that goes on", hit, draws)
	}
}
