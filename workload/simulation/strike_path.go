package simulation

import (
	"strings"
	"time"

	"github.com/zkverify/zkverify/ensemble/links"
	"github.com/zkverify/zkverify/ensemble/simulated"
	"github.com/zkverify/zkverify/nemesis/fault"
	model "github.com/zkverify/zkverify/spec"
)

// spot is a step of a client, and a message of it.
type spot struct{ step, at string }

// placedAt returns where a strike acts for a fault of a path: the step of the client, and the message of it.
func placedAt(f model.PathFault) spot {
	sort, _, _ := strings.Cut(f.Step, ".")
	switch sort {
	case momentCreate, momentSettle:
		return spot{stepAcquire, f.Step}
	case momentDelete:
		return spot{stepRelease, f.Step}
	case momentWrite:
		return spot{stepHold, f.Step}
	case "wait":
		return spot{stepQueued, ""}
	case "turn":
		return spot{stepTurn, momentEvent}
	}
	return spot{stepHold, ""}
}

// place has a strike act as a fault of a path does. A draw decides whether a request that a broken
// connection meets is lost, or carried out and its answer lost, and whether what is said during a silence is
// lost, or heard after it.
func (k *strike) place(f model.PathFault) {
	t := k.scene.SessionTimeout()
	where := placedAt(f)
	k.step, k.at, k.ahead, k.behind, k.message = where.step, where.at, f.Ahead, f.Behind, 0
	k.patience, k.limit = 3*t, t
	lost, silent, even := links.Down, links.BlackHole, k.scene.Pick.Draw%2 == 0
	if even && strings.HasSuffix(f.Step, askedSuffix) {
		lost = links.RepliesLost
	}
	if even {
		silent = simulated.HeldBack
	}
	length := lengths[0]
	switch f.Fault {
	case "break":
		k.act = string(lost)
	case "silence":
		k.act, length = string(silent), lengths[1]
	case "expire":
		k.act, length = string(silent), lengths[2]
	case "cancel":
		k.act = cancelAct
	case "crash":
		k.act = crashAct
	case "deposed":
		k.act = expireAct
	case "delete":
		k.act = deleteAct
	case "overtake":
		k.act = holdBackAct
	}
	k.length = time.Duration(length) * t / 100
	if k.cut = k.all; f.Fault == "break" {
		k.cut = k.linked
	}
}

// follow has a strike carry out a path, if its parameters name one: it acts for the first fault, and one that
// it begins for the second.
func (k *strike) follow() error {
	p, ok := pathsNamed()[k.scene.Pick.Params[pathParam]]
	if !ok {
		return nil
	}
	k.place(p.Faults[0])
	if len(p.Faults) == 1 {
		return nil
	}
	f, c := p.Faults[1], k.client
	if f.Other {
		var others []fault.Client
		for _, o := range k.scene.Free {
			if o.Index != c.Index {
				others = append(others, o)
			}
		}
		if len(others) == 0 {
			return fault.ErrNobody
		}
		c = others[int(k.scene.Pick.Draw/2)%len(others)]
	}
	next, err := newStrike(k.scene, c)
	if err != nil {
		return err
	}
	next.place(f)
	next.patience, next.limit = k.length+next.patience/3, k.length+next.limit
	if !f.Other {
		if f.Step == "lost" || next.at != "" {
			next.step = "" // it is already there
		}
		if isCut(k.act) {
			next.length = max(next.length, k.length)
		}
	}
	k.next = next
	return nil
}
